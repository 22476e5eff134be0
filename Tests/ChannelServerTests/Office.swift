import AsyncHTTPClient
import CRDT
import ChannelServer
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import ServerChannel
import Simulation
import Storage
import Synchronization
import Testing

/// A server on the loopback with a database of its own, for as long as a test runs.
struct Office: Sendable {
    static let job = "job-1"

    let port: Int
    let token: String
    let databasePath: String
    let http: HTTPClient

    struct Answer {
        let status: UInt
        let headers: HTTPHeaders
        let bytes: [UInt8]

        /// The JSON of the answer.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]) ?? [:]
        }

        var code: String? { json["code"] as? String }

        /// What the first of the mutations that were sent was answered with.
        var decision: [String: Any] { (json["decisions"] as? [[String: Any]])?.first ?? [:] }
    }

    /// - Parameter isRecovering: it serves with `--recover`.
    static func open(
        isRecovering: Bool = false, _ body: @Sendable @escaping (Office) async throws -> Void
    ) async throws {
        let directory = NSTemporaryDirectory() + "muster-channel-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/channel.sqlite"
        let tokens = try TokenAdministration(databasePath: path)
        let token = try await tokens.add("anna")
        try tokens.close()
        var settings = try ServerSettings(listen: "127.0.0.1:0", database: path, environment: [:])
        settings.isRecovering = isRecovering
        let (ports, ready) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let server = ChannelServer(settings: settings, logger: logger) { ready.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { ready.finish() }
                try await server.run(stoppingOn: [])
            }
            let port = try #require(await ports.first { _ in true })
            // A client of its own: closing it closes the connections, on which the server would wait.
            let http = HTTPClient(eventLoopGroupProvider: .singleton)
            let office = Office(port: port, token: token, databasePath: path, http: http)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(office)) } catch { outcome = .failure(error) }
            try await http.shutdown()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
            try outcome.get()
        }
    }

    /// One request; `body` is JSON text or protobuf bytes, by `type`.
    func ask(
        _ method: HTTPMethod, _ path: String, _ headers: [String: String] = [:], body: [UInt8]? = nil,
        type: String = ChannelHeader.json
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await http.execute(request, timeout: .seconds(70))
        let bytes = try await response.body.collect(upTo: 8 << 20)
        return Answer(
            status: response.status.code, headers: response.headers, bytes: Array(bytes.readableBytesView))
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await ask(.GET, path, headers)
    }

    /// One mutation alone; `body` is its JSON without job, token and channel.
    func mutate(
        _ token: UInt128, _ body: String, job: String = Self.job, channel: UInt64? = nil
    ) async throws -> Answer {
        try await mutate([mutation(token, body, job: job, channel: channel)])
    }

    func mutation(_ token: UInt128, _ body: String, job: String = Self.job, channel: UInt64? = nil) -> String {
        let known = channel.map { #", "channel": \#($0)"# } ?? ""
        let head = #"{"job": "\#(job)", "token": "\#(MutationToken(token))"\#(known)"#
        return body.hasPrefix("{") ? head + ", " + body.dropFirst() : body
    }

    func mutate(_ mutations: [String]) async throws -> Answer {
        let body = #"{"mutations": [\#(mutations.joined(separator: ", "))]}"#
        return try await ask(.POST, "/v1/mutations", body: Array(body.utf8))
    }

    func upload(_ segments: [JournalSegment], job: String = Self.job) async throws -> Answer {
        try await ask(
            .POST, "/v1/jobs/\(job)/journals", ["Accept": ChannelHeader.protobuf],
            body: try SegmentList(segments: segments).protobuf(), type: ChannelHeader.protobuf)
    }
}

/// A journal of one laptop, made by hand.
struct Journal {
    private let number: UInt64
    private let author: TestAuthor
    private let job: String
    private(set) var head = JournalHead.empty

    var replica: ReplicaID { author.replica }

    init(_ number: UInt64, of job: String = Office.job, certificates: [[UInt8]] = []) {
        self.number = number
        self.job = job
        author = TestAuthor(number, certificates: certificates)
    }

    /// The next run: one item per name.
    mutating func add(_ names: [String], stamp: UInt64 = 1_000) throws -> JournalSegment {
        let bytes = names.enumerated().flatMap { index, name in
            ChangeCodec.encode(
                Change(
                    item: ItemID(UInt128(head.sequence) + UInt128(index) + UInt128(number) << 32 + 1),
                    stamp: Stamp(milliseconds: stamp + UInt64(index), counter: 0),
                    operations: [.set(field: "name", value: name, replaces: [])]))
        }
        let run = try author.segment(bytes, after: head, of: #require(JobID(job)))
        head = run.head
        return run
    }
}
