// swift-format-ignore-file: NeverForceUnwrap
import CRDT
import Foundation
import Logging
import Replication
import Simulation
import Testing
import Timekeeping
import Transport
import WireFormat

/// A transport that listens on loopback while `body` runs, and has reported every link as closed afterwards.
func withTransport<Result>(
    _ handler: RecordingHandler, _ configuration: TransportConfiguration = .init(host: "127.0.0.1", port: 0),
    security: (any LinkSecurity)? = nil, enrolment: (any EnrolmentHandler)? = nil,
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    _ body: (PeerTransport, Int) async throws -> Result
) async throws -> Result {
    let transport = PeerTransport(
        configuration: configuration, security: try security ?? CrewMember(), handler: handler, logger: logger,
        enrolment: enrolment)
    let running = Task { await transport.run() }
    defer { running.cancel() }
    while transport.boundPort == nil { try await Task.sleep(for: .milliseconds(2)) }
    let result = try await body(transport, #require(transport.boundPort))
    running.cancel()
    await running.value
    #expect(transport.boundPort == nil)
    #expect(handler.events.opened.sorted() == handler.events.closed.sorted(), "each link is closed exactly once")
    return result
}

enum Samples {
    static let job = JobID("job")!
    static let replica = ReplicaID(7)

    static let hello = hello(maximumVersion: 1)

    static func hello(maximumVersion: UInt32) -> Message {
        .hello(
            Hello(
                minimumVersion: 1, maximumVersion: maximumVersion, device: DeviceID(high: 1, low: 2), instance: 3,
                name: "a"))
    }

    static func delta(bytes: Int, first: UInt64 = 1) -> Message {
        let head = JournalHead(sequence: first, digest: 1)
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: first), count: bytes)
        return .delta(
            job: job, JournalSegment(replica: replica, first: first, head: head, bytes: bytes), pushed: true)
    }

    static let everyKind: [Message] = [
        .ping(1), .pong(2, received: 3, answered: 4, .unsynchronised), .ready,
        .fingerprint(3), .bucketsRequest, .buckets((0..<256).map { $0 }), .summariesRequest(bucket: 3),
        .summaries(bucket: 3, [JobSummary(job: job, fingerprint: 3)]), .vectorRequest(job: job),
        .vector(job: job, VersionVector(), end: nil),
        .have(job: job, [VersionVector.Entry(replica: replica, head: JournalHead(sequence: 4, digest: 5))]),
        .request(job: job, replica: replica, from: 6, credit: 7, graft: true),
        .credit(job: job, replica: replica, bytes: 8), delta(bytes: 300_000), .prune(job: job),
        .probe(job: job, replica: replica, sequence: 9),
        .probeAnswer(job: job, replica: replica, ProbeAnswer(sequence: 9, boundary: nil, changeHash: 10)),
        .forked(job: job, replica: replica), .reportRequest(job: job, number: 11),
        .report(JobDigestReport(job: job, number: 11, vector: VersionVector(), digest: [])),
        .goodbye("enough"),
    ]
}

/// The resident memory of this process, in bytes (proc(5)).
func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(Int(fields[1])) * sysconf(Int32(_SC_PAGESIZE))
}
