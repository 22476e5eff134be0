import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import Synchronization

/// A daemon's answers without a daemon: one job with a few items, always the same.
final class FakeService: MusterService {
    static let deviceID = String(repeating: "ab12", count: 16)
    static let otherDeviceID = String(repeating: "cd34", count: 16)
    static let replicaID = String(repeating: "1f", count: 16)
    static let otherReplicaID = String(repeating: "2e", count: 16)
    static let jobID = "0190f5fe-7c00-7000-8000-000000000001"
    static let itemIDs = [
        "0190f5fe-9c41-7a3e-8f10-5b1e0c9d2a01", "0190f5fe-9c41-7b70-9d22-c04a77e1f002",
        "0190f5fe-b2d0-7111-a3f4-08d6b52e9003",
    ]
    static let removedItemID = "0190f5ff-0e15-7c0d-b6a7-4d2f91c3e004"
    static let moment = Timestamp(milliseconds: 1_722_508_200_125)

    /// What was written, in order, as text.
    let written = Mutex<[String]>([])
    /// Whether `check` finds the other device different.
    let isDifferent = Mutex(false)
    /// Whether it is a laptop alone, and unwell.
    let isAlone = Mutex(false)
    /// Everyone who follows the events.
    private let followers = Mutex<[AsyncStream<Event>.Continuation]>([])

    func note(_ line: String) { written.withLock { $0.append(line) } }

    /// Sends an event to everyone who follows.
    func send(_ event: Event) {
        for follower in followers.withLock({ $0 }) { follower.yield(event) }
    }

    var followerCount: Int { followers.withLock { $0.count } }

    func status() async throws -> Status {
        Status(
            deviceID: Self.deviceID, replicaID: Self.replicaID, name: "anna-laptop", version: "0.1.0",
            startedAt: Self.moment, clock: Self.clockStatus, discovery: DiscoveryStatus(state: .available),
            peers: try await peers(), jobs: 1,
            server: ServerContact(address: "https://office.example", lastAnswerAt: Self.moment, ageSeconds: 185),
            queue: QueueStatus())
    }

    func peers() async throws -> [PeerStatus] {
        let peers = [
            PeerStatus(
                deviceID: Self.otherDeviceID, name: "bert-laptop", address: "192.168.1.12:4710", state: .connected,
                origin: .discovery, behind: 12, ahead: 0, roundTripMilliseconds: 0.42, bytesReceived: 81_234,
                bytesSent: 1_204_880, lastHeardAt: Self.moment),
            PeerStatus(
                deviceID: nil, name: nil, address: "[2001:db8:0:1:aaaa:bbbb:cccc:dddd]:4710", state: .unreachable,
                origin: .configured),
        ]
        return isAlone.withLock { $0 } ? Array(peers.dropFirst()) : peers
    }

    func addPeer(_ request: AddPeerRequest) async throws { note("peer \(request.address)") }

    func jobs() async throws -> [JobListEntry] {
        [
            JobListEntry(
                id: Self.jobID, name: "Smith, 12 Elm Street, third floor, ring twice", kind: .pickup,
                state: ShownState(published: "inProgress", pending: "awaitingSignature"), items: 1203, removed: 2,
                conflicts: 1, updatedAt: Self.moment)
        ]
    }

    func createJob(_ request: CreateJobRequest) async throws -> Identified {
        guard request.id != "taken" else {
            throw APIError(.jobExists, "A job with the id \"taken\" exists already: choose another with --id.")
        }
        note("job \(request.name) \(request.kind?.rawValue ?? "-")")
        return Identified(id: request.id ?? Self.jobID)
    }

    func job(_ job: String) async throws -> JobDetails {
        try check(job: job, allowed: true)
        let alone = isAlone.withLock { $0 }
        return JobDetails(
            id: Self.jobID, name: "Smith, 12 Elm Street", kind: .pickup,
            state: ShownState(published: "awaitingSignature"),
            signature: Signature(name: "J. Smith", digest: String(repeating: "5a", count: 32), isPending: true),
            items: 3, removed: 1, volume: Volume(cubicFeet: 1234.5, cubicMetres: 34.957), conflicts: 1, late: 2,
            peersBehind: alone ? [] : [PeerBehind(deviceID: Self.otherDeviceID, name: "bert-laptop", transforms: 12)],
            sync: alone ? .notConnected : .catchingUp,
            vector: [Self.replicaID: 27, Self.otherReplicaID: 9], digest: String(repeating: "5a", count: 32),
            updatedAt: Self.moment)
    }

    func summary(job: String) async throws -> VolumeReport {
        try check(job: job, allowed: true)
        var summary = VolumeSummary()
        for item in Self.items {
            guard let id = ItemID(item.id) else { continue }
            summary.add(id) { item.fields[$0.text] }
        }
        return VolumeReport(summary, digest: String(repeating: "5a", count: 32))
    }

    func events(job: String?, type: EventType?) async throws -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        followers.withLock { $0.append(continuation) }
        return stream
    }

    /// Knows one job under its id, its prefix and its name.
    func check(job: String, allowed: Bool) throws {
        switch job {
        case Self.jobID, "0190", "Smith, 12 Elm Street": return
        case "ambiguous":
            throw APIError(
                .ambiguousJob,
                "\"ambiguous\" names two jobs, 0190f5fe (Smith) and 0190f5ff (Jones): write more of the id.",
                candidates: [Self.jobID])
        case "stopping": throw APIError(.unavailable, "The daemon is stopping: try again in a moment.")
        case "secret": throw APIError(.notPermitted, "This device is not on the job's roster: ask the office.")
        case "broken": throw FakeFault()
        default: throw APIError(.unknownJob, "There is no job \"\(job)\": see 'muster job list'.")
        }
    }
}

struct FakeFault: Error {}
