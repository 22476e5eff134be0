import CRDT
import Replication
import Simulation
import Testing

@Suite("A job ends while this device writes in it")
struct JobRemovalTests {
    @Test("A commit that is heard of before the end of the job keeps the place of this store's own journal")
    func ownJournalOnlyGrows() throws {
        let job = try #require(JobID("elm"))
        var mesh = Mesh(
            device: try #require(DeviceID(String(repeating: "a1", count: 32))), replica: ReplicaID(1), instance: 1,
            name: "anna", jobs: [(job, VersionVector([.init(replica: ReplicaID(1), head: head(3))]))])
        _ = mesh.onCommitted(segment(4), job: job, now: 1_000)
        let removed = VersionVector([.init(replica: ReplicaID(1), head: head(3))])
        let removal = JobRemoval(name: "Elm", heads: removed)
        _ = mesh.onJobRemoved(removal, of: job, vector: removed, replaced: [], now: 1_001)
        #expect(mesh.vector(of: job)[ReplicaID(1)] == head(4))
    }

    @Test("What a peer holds of a job is asked for anew when the job ends: something may lie beyond the removal")
    func peersAreAsked() throws {
        let job = try #require(JobID("elm"))
        let link = LinkID(number: 1)
        let held = VersionVector([.init(replica: ReplicaID(1), head: head(3))])
        var mesh = Mesh(
            device: try #require(DeviceID(String(repeating: "a1", count: 32))), replica: ReplicaID(1), instance: 1,
            name: "anna", jobs: [(job, held)])
        mesh.meet(try #require(DeviceID(String(repeating: "b2", count: 32))), on: link)
        let directives = mesh.onJobRemoved(
            JobRemoval(name: "Elm", heads: held), of: job, vector: held, replaced: [], now: 1_000)
        #expect(directives.contains(.send(.vectorRequest(job: job), on: link)))
    }

    private func head(_ sequence: UInt64) -> JournalHead {
        JournalHead(sequence: sequence, digest: JournalDigest(sequence &* 77))
    }

    private func segment(_ sequence: UInt64) -> JournalSegment {
        JournalSegment(replica: ReplicaID(1), first: sequence, head: head(sequence), bytes: [1])
    }
}
