import CRDT
import HTTPCoding
import HTTPTypes
import Hummingbird
import NIOCore
import ServerChannel

/// What a route knows of its request.
struct ChannelContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// When the request came, in microseconds since 1970.
    var received: Int64 = 0
    /// The address that it came from, without the port, which is another one each time.
    let remote: String
    /// What the caller has proved a key of, in DER; nothing where it has proved none.
    var chain: [[UInt8]] = []
    let permit = Permit()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remote = source.channel.remoteAddress?.ipAddress ?? ""
    }
}

/// One request while it is answered.
struct Exchange: Sendable {
    let request: Request
    let context: ChannelContext
    /// What the caller may be told of jobs.
    let access: JobAccess
    /// Throws once the caller is not let in any more: a body may take long to come.
    let judgeAgain: @Sendable () async throws -> Void

    func job() throws(ChannelProblem) -> JobID {
        guard let job = JobID(try segment("job")) else {
            throw ChannelProblem(
                .invalidRequest, "A job's id has 1 to 64 of A–Z a–z 0–9 . _ -, and no dot first; correct the path.")
        }
        return job
    }

    /// Answers about the job of the path, if the caller may be told of it, before and after: it may be taken off while it waits.
    func seeing<Value>(
        _ service: ChannelService, _ answer: (JobID) async throws -> Value
    ) async throws -> Value {
        let job = try job()
        try await service.check(job, for: access)
        let value = try await answer(job)
        try await service.check(job, for: access)
        return value
    }

    func replica() throws(ChannelProblem) -> ReplicaID {
        let text = try segment("replica")
        guard let replica = ReplicaID(text), replica.description == text else {
            throw ChannelProblem(.invalidRequest, "A replica's id has 32 digits of 0–9 a–f; correct the path.")
        }
        return replica
    }

    func token() throws(ChannelProblem) -> MutationToken {
        let text = try segment("token")
        guard let token = MutationToken(text), token.description == text else {
            throw ChannelProblem(.invalidRequest, "A request's token has 32 digits of 0–9 a–f.")
        }
        return token
    }

    func header(_ name: HTTPField.Name) -> String { (request.headers[name] ?? "").lowercased() }

    var wantsProtobuf: Bool { header(.accept).contains(ChannelHeader.protobuf) }

    /// A whole number of the query; nil when it is not there.
    func number(_ name: String, in range: ClosedRange<UInt64>) throws(ChannelProblem) -> UInt64? {
        guard let text = try query(name) else { return nil }
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isPlain, let number = UInt64(text), range.contains(number) else {
            throw ChannelProblem(
                .invalidRequest, "'\(name)' is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func sequence(_ name: String) throws(ChannelProblem) -> UInt64 {
        try number(name, in: 0...ChangeLimits.sequence) ?? 0
    }

    func wait() throws(ChannelProblem) -> Int {
        Int(try number("wait", in: 0...UInt64(ChannelLimits.longestWaitSeconds)) ?? 0)
    }

    func limit() throws(ChannelProblem) -> Int {
        let limit = try number("limit", in: 1...UInt64(ChannelLimits.entries))
        return limit.map { Int($0) } ?? ChannelLimits.entriesByDefault
    }

    /// A parameter of the query, decoded; nil when it is not there.
    func query(_ name: String) throws(ChannelProblem) -> String? {
        for pair in (request.uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard PercentCoding.decode(parts[0]) == name else { continue }
            guard parts.count == 2, let value = PercentCoding.decode(parts[1]) else {
                throw ChannelProblem(.invalidRequest, "'\(name)' is not percent-encoded UTF-8.")
            }
            return value
        }
        return nil
    }

    private func segment(_ name: String) throws(ChannelProblem) -> String {
        guard let value = context.parameters.get(name).flatMap({ PercentCoding.decode($0) }) else {
            throw ChannelProblem(.invalidRequest, "The path is not valid percent-encoded UTF-8.")
        }
        return value
    }
}

/// A body in one of the two languages of the API.
enum Body: Sendable {
    case json([UInt8])
    case protobuf([UInt8])
}

extension Exchange {
    /// The body, unpacked.
    ///
    /// - Parameter limit: in bytes, whole MiB, packed and unpacked.
    func body(upTo limit: Int = ChannelLimits.bodyBytes) async throws -> Body {
        let type = header(.contentType).prefix { $0 != ";" && $0 != " " }
        guard type == ChannelHeader.json || type == ChannelHeader.protobuf else {
            throw ChannelProblem(
                .mediaType, "The body has to be \(ChannelHeader.json) or \(ChannelHeader.protobuf), by Content-Type.")
        }
        let packing = header(.contentEncoding)
        guard ["", "identity", "gzip"].contains(packing) else {
            throw ChannelProblem(.mediaType, "A body may be packed with gzip only, not with '\(packing)'.")
        }
        var bytes: [UInt8]
        do {
            bytes = Array(try await request.body.collect(upTo: limit).readableBytesView)
            if packing == "gzip" { bytes = try Gzip.unpack(bytes, limit: limit) }
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge(limit)
        } catch Gzip.Failure.tooLarge {
            throw Self.tooLarge(limit)
        } catch Gzip.Failure.malformed {
            throw ChannelProblem(.invalidRequest, "The body is not what gzip makes.")
        }
        try await judgeAgain()
        return type == ChannelHeader.json ? .json(bytes) : .protobuf(bytes)
    }

    /// The body, where it may be JSON only.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        guard case .json(let bytes) = try await body() else {
            throw ChannelProblem(.mediaType, "The body has to be \(ChannelHeader.json), by Content-Type.")
        }
        return try JSONBody.decode(type, from: bytes)
    }

    private static func tooLarge(_ limit: Int) -> ChannelProblem {
        ChannelProblem(.tooLarge, "The body is larger than \(limit >> 20) MiB; send it in smaller ones.")
    }
}
