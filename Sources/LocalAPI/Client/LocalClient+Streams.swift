import HTTPCoding
import NIOCore
import NIOHTTP1

/// Answers that are read piece by piece, so that a large job never lies in memory. Each calls back in order and throws
/// what the callback throws.
extension LocalClient {
    /// `GET /v1/jobs/{job}/log`: oldest first; of one item, removed or not, where `item` is given.
    package func log(job: String, item: String?, _ each: (ChangeReport) async throws -> Void) async throws {
        let query = item.map { [("item", $0)] } ?? []
        try await lines(["jobs", job, "log"], query: query) { (changes: [ChangeReport]) in
            for change in changes { try await each(change) }
        }
    }

    /// `GET /v1/jobs/{job}/items`: those that are not removed and match every filter, ascending by id. Calls back with some
    /// hundred at a time, as `ItemView` or as a part of it.
    package func items<Item: Decodable>(
        job: String, matching filters: [FieldFilter], _ each: ([Item]) async throws -> Void
    ) async throws {
        try await lines(["jobs", job, "items"], query: Self.query(filters), each)
    }

    /// The same as one JSON array, in bytes that are cut anywhere.
    package func itemsAsJSON(
        job: String, matching filters: [FieldFilter], _ each: ([UInt8]) async throws -> Void
    ) async throws {
        try await pieces(["jobs", job, "items"], query: Self.query(filters), accept: "application/json") { piece, _ in
            try await each(Array(piece.readableBytesView))
        }
    }

    private static func query(_ filters: [FieldFilter]) -> [(String, String)] {
        filters.map { ("where", "\($0.field)=\($0.value)") }
    }

    /// `GET /v1/jobs/{job}/export`: the canonical bytes (rule R3), cut anywhere.
    package func export(
        job: String, format: ExportFormat, _ each: ([UInt8]) async throws -> Void
    ) async throws {
        try await pieces(["jobs", job, "export"], query: [("format", format.rawValue)], accept: "*/*") { piece, _ in
            try await each(Array(piece.readableBytesView))
        }
    }

    /// `GET /v1/jobs/{job}/history`: lines of JSON, cut anywhere.
    package func history(job: String, _ each: ([UInt8]) async throws -> Void) async throws {
        try await pieces(["jobs", job, "history"], accept: "*/*") { piece, _ in
            try await each(Array(piece.readableBytesView))
        }
    }

    /// Calls back for each event until the daemon stops or the task is cancelled; `onSubscribed` once, when no event
    /// can be missed any more.
    package func events(
        job: String?, onSubscribed: () async throws -> Void = {}, _ each: (Event) async throws -> Void
    ) async throws {
        let query = job.map { [("job", $0)] } ?? []
        var splitter = LineSplitter()
        try await pieces(["events"], query: query, accept: "text/event-stream", onHead: onSubscribed) { piece, _ in
            for line in splitter.add(piece.readableBytesView) where line.starts(with: Array("data: ".utf8)) {
                // A type of event that this version does not know is for newer ones.
                if let event = try? JSON.decode(Event.self, from: line.dropFirst(6)) { try await each(event) }
            }
        }
    }

    /// The lines that a piece completes are decoded at once: to begin a decoder for each line costs as much as the line.
    private func lines<Element: Decodable>(
        _ path: [String], query: [(String, String)], _ each: ([Element]) async throws -> Void
    ) async throws {
        let newline = UInt8(ascii: "\n")
        var text: [UInt8] = []
        try await pieces(path, query: query, accept: ElementForm.linesMediaType) { piece, response in
            text += piece.readableBytesView
            guard let end = text.lastIndex(of: newline) else { return }
            // No element has a newline within: with a comma for each they are an array.
            var array = [UInt8(ascii: "[")] + text[...end]
            for index in array.indices where array[index] == newline { array[index] = UInt8(ascii: ",") }
            array[array.count - 1] = UInt8(ascii: "]")
            text.removeFirst(end + 1)
            let elements: [Element]
            do { elements = try JSON.decode(from: array) } catch let fault as JSONFault {
                throw unexpected(fault, in: response.headers)
            }
            try await each(elements)
        }
        guard text.isEmpty else { throw connectionFailure(ConnectionError.cutOff) }
    }

    func pieces(
        _ path: [String], query: [(String, String)] = [], accept: String, _ method: HTTPMethod = .GET,
        body: (any Encodable & Sendable)? = nil, onHead: () async throws -> Void = {},
        _ each: (ByteBuffer, LocalAnswer) async throws -> Void
    ) async throws {
        let request = try request(method, path, query: query, accept: accept, body: body)
        let response: LocalAnswer
        do {
            response = try await execute(request)
            if !(200..<300).contains(response.status.code) { _ = try good(try await whole(response)) }
        } catch { throw connectionFailure(error) }
        try await onHead()
        var pieces = response.body.makeAsyncIterator()
        while let piece = try await next(of: &pieces) { try await each(piece, response) }
    }

    /// Apart from what reads it, whose failures are its own.
    private func next(of pieces: inout LocalAnswer.Body.AsyncIterator) async throws -> ByteBuffer? {
        do { return try await pieces.next() } catch { throw connectionFailure(error) }
    }
}
