import AsyncHTTPClient
import Authorship
import CRDT
import Foundation
import HTTPCoding
import Identity
import Logging
import NIOCore
import NIOHTTP1
import ServerChannel
import Simulation
import Storage
import Synchronization
import Testing

@testable import ChannelServer

/// A server of a fleet with a database of its own, for as long as a test runs. It is asked as a proxy would ask it.
struct Office: Sendable {
    static let job = "job-1"

    let fleet: TestFleet
    let socket: String
    /// Who asks, unless somebody else is named.
    let headers: [String: String]
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
        let now = WallClock().microseconds / 1_000
        let fleet = try TestFleet(founded: now)
        let server = try FleetAdministration(databasePath: path, makesDatabase: true)
        _ = try await server.install(fleet.papers(server.request()), changesFleet: false)
        try server.close()
        var settings = try ServerSettings(listen: "127.0.0.1:0", database: path, environment: [:])
        settings.isRecovering = isRecovering
        settings.proxySocket = directory + "/proxy"
        let (ports, ready) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let program = ChannelServer(settings: settings, logger: logger) { ready.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { ready.finish() }
                try await program.run(stoppingOn: [])
            }
            _ = try #require(await ports.first { _ in true })
            while !FileManager.default.fileExists(atPath: directory + "/proxy") {
                try await Task.sleep(for: .milliseconds(5))
            }
            // A client of its own: closing it closes the connections, on which the server would wait.
            let http = HTTPClient(eventLoopGroupProvider: .singleton)
            let office = Office(
                fleet: fleet, socket: directory + "/proxy",
                headers: try Self.headers(showing: fleet.chain(DeviceKey(), as: .office)), http: http)
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

    /// What a proxy passes on of a caller.
    static func headers(showing chain: [[UInt8]]) throws -> [String: String] {
        [
            "X-Client-Cert": PercentCoding.encode(try FleetCertificate(chain[0]).pem),
            ChannelHeader.issuer: Data(chain[1]).base64EncodedString(),
        ]
    }

    /// A journal of one laptop of the fleet, made by hand.
    func journal(_ number: UInt64, of job: String = Self.job) throws -> Journal {
        let key = TestSigner(number).key.publicKey
        return Journal(number, of: job, certificates: try fleet.chain(key))
    }

    /// One request; `body` is JSON text or protobuf bytes, by `type`.
    func ask(
        _ method: HTTPMethod, _ path: String, _ headers: [String: String] = [:], body: [UInt8]? = nil,
        type: String = ChannelHeader.json
    ) async throws -> Answer {
        let place = PercentCoding.encode(socket)
        var request = HTTPClientRequest(url: "http+unix://\(place)\(path)")
        request.method = method
        for (name, value) in self.headers.merging(headers, uniquingKeysWith: { $1 }) {
            request.headers.replaceOrAdd(name: name, value: value)
        }
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

    /// One mutation alone; `body` is its JSON without job, token and channel, and with an object as payload.
    func mutate(
        _ token: UInt64, _ body: String, job: String = Self.job, channel: UInt64? = nil
    ) async throws -> Answer {
        try await mutate([try mutation(token, body, job: job, channel: channel)])
    }

    /// Who asks in these tests.
    static let asker = TestAuthor(4_711)

    static func token(_ chance: UInt64) -> MutationToken { asker.token(chance) }

    func mutation(
        _ token: UInt64, _ body: String, job: String = Self.job, channel: UInt64? = nil, by asker: TestAuthor = asker
    ) throws -> String {
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8))
        // What is no mutation is sent as it is.
        guard let asked = object as? [String: Any], let lane = asked["lane"] as? String,
            let kind = asked["kind"] as? String
        else { return body }
        let payload = try JSONSerialization.data(
            withJSONObject: asked["payload"] ?? [String: Any](), options: .sortedKeys)
        let request = MutationRequest(
            token: MutationToken(UInt128(token)), lane: lane,
            after: (asked["after"] as? String).flatMap { MutationToken($0) }, priority: 0, kind: kind,
            payload: [UInt8](payload))
        let signed = try Self.json(asker.asks(request, for: #require(JobID(job))), job: job, channel: channel)
        return asked["priority"].map { signed.dropLast() + #", "priority": \#($0)}"# } ?? signed
    }

    /// As it is delivered.
    static func json(_ request: MutationRequest, job: String = Self.job, channel: UInt64? = nil) throws -> String {
        var mutation: [String: Any] = [
            "job": job, "token": request.token.description, "lane": request.lane, "kind": request.kind,
            "payload": String(decoding: request.payload, as: UTF8.self),
            "key": request.signature.key.hexadecimalDigits, "nonce": ReplicaID(request.signature.nonce).description,
            "signature": Data(request.signature.value).base64EncodedString(),
        ]
        mutation["after"] = request.after?.description
        mutation["channel"] = channel
        return String(decoding: try JSONSerialization.data(withJSONObject: mutation), as: UTF8.self)
    }

    /// With what the fleet says of the asker, unless it is another's word.
    func mutate(_ mutations: [String], by asker: JournalAuthor? = nil) async throws -> Answer {
        let author = try asker ?? known(Self.asker)
        let certificates = author.certificates.map { Data($0).base64EncodedString() }
        let document: [String: Any] = [
            "key": author.key.hexadecimalDigits, "nonce": ReplicaID(author.nonce ?? 0).description,
            "certificates": certificates,
        ]
        let authors = String(decoding: try JSONSerialization.data(withJSONObject: [document]), as: UTF8.self)
        let body = #"{"mutations": [\#(mutations.joined(separator: ", "))], "authors": \#(authors)}"#
        return try await ask(.POST, "/v1/mutations", body: Array(body.utf8))
    }

    /// Somebody whom the fleet has let in.
    func known(_ laptop: TestAuthor, as role: FleetRole = .member) throws -> JournalAuthor {
        var author = laptop.author
        author.certificates = try fleet.chain(#require(DevicePublicKey(author.key)), as: role)
        return author
    }

    func upload(_ segments: [JournalSegment], job: String = Self.job) async throws -> Answer {
        try await ask(
            .POST, "/v1/jobs/\(job)/journals", ["Accept": ChannelHeader.protobuf],
            body: try SegmentList(segments: segments).protobuf(), type: ChannelHeader.protobuf)
    }
}

/// See `Office.journal`.
struct Journal {
    private let number: UInt64
    private let author: TestAuthor
    private let job: String
    private(set) var head = JournalHead.empty

    var replica: ReplicaID { author.replica }

    fileprivate init(_ number: UInt64, of job: String, certificates: [[UInt8]]) {
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
