import CRDT
import Replication
import Testing

@Suite("Every peer hears of every change")
struct AnnouncementTests {
    @Test("A link that joins the tree between a change and its announcement is told of the change")
    func linkThatJoinsTheTreeLate() throws {
        let link = LinkID(number: 1)
        let device = try #require(DeviceID(String(repeating: "a1", count: 32)))
        let peer = try #require(DeviceID(String(repeating: "b2", count: 32)))
        let job = try #require(JobID("home"))
        let (own, theirs) = (ReplicaID(1), ReplicaID(2))
        var mesh = Mesh(device: device, replica: own, instance: 1, name: "anna", fleet: "", jobs: [])
        mesh.meet(peer, on: link)
        // Another laptop has been quicker twice: the link is outside the tree.
        _ = mesh.onMessage(.have(job: job, []), on: link, now: 0)
        _ = mesh.onCommitted(segment(of: own, 1), job: job, now: 0)
        _ = drain(&mesh, until: 1_000)
        _ = mesh.onMessage(.prune(job: job), on: link, now: 1_000)

        #expect(mesh.onCommitted(segment(of: own, 2), job: job, now: 1_000) == [], "outside the tree nothing is pushed")
        _ = drain(&mesh, until: 1_100)
        // The quicker way is gone: the peer pushes over this link, which takes it into the tree.
        _ = mesh.onMessage(.delta(job: job, segment(of: theirs, 1), pushed: true), on: link, now: 1_100)
        let told = drain(&mesh, until: 2_000).contains { directive in
            guard case .send(.have(job, let entries), link) = directive.onLink else { return false }
            return entries.contains { $0.replica == own && $0.head.sequence == 2 }
        }
        #expect(told)
    }

    @Test("What the server and a peer brought at one time is told to everybody, whichever is heard of first")
    func broughtTwice() throws {
        let (source, other) = (LinkID(number: 1), LinkID(number: 2))
        let device = try #require(DeviceID(String(repeating: "a1", count: 32)))
        let job = try #require(JobID("home"))
        let theirs = ReplicaID(2)
        var mesh = Mesh(device: device, replica: ReplicaID(1), instance: 1, name: "anna", fleet: "", jobs: [])
        for (link, digits) in [(source, "b2"), (other, "c3")] {
            mesh.meet(try #require(DeviceID(String(repeating: digits, count: 32))), on: link)
            _ = mesh.onMessage(.have(job: job, []), on: link, now: 0)
        }
        let run = segment(of: theirs, 1)
        let directives = mesh.onMessage(.delta(job: job, run, pushed: true), on: source, now: 1_000)
        #expect(directives.contains(.persist(job, run, from: source)))
        // The server's is durable before it is stored, and the mesh hears of that afterwards.
        _ = mesh.onPersisted(run, job: job, from: source, result: .duplicate(run.head), now: 1_000)
        let pushed = mesh.onCommitted(run, job: job, now: 1_001)
        let told = (pushed + drain(&mesh, until: 3_000).compactMap(\.onLink)).contains { directive in
            switch directive {
            case .send(.have(job, let entries), other): entries.contains { $0.replica == theirs }
            case .send(.delta(job, run, _), other): true
            default: false
            }
        }
        #expect(told)
    }

    private func segment(of replica: ReplicaID, _ sequence: UInt64) -> JournalSegment {
        JournalSegment(
            replica: replica, first: sequence, head: JournalHead(sequence: sequence, digest: sequence), bytes: [0])
    }

    /// Lets time pass, and returns what the mesh wanted meanwhile.
    private func drain(_ mesh: inout Mesh, until end: UInt64) -> [UpkeepDirective] {
        var directives: [UpkeepDirective] = []
        while let next = mesh.nextDeadline, next <= end { directives += mesh.onTimer(now: next) }
        return directives
    }
}
