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
        _ = mesh.onJobRemoved(removal, of: job, vector: removed, replaced: [], order: 1, now: 1_001)
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
            JobRemoval(name: "Elm", heads: held), of: job, vector: held, replaced: [], order: 1, now: 1_000)
        #expect(directives.contains(.send(.vectorRequest(job: job), on: link)))
    }

    // Adopted 4 of a branch in the place of 5 of another one; the removal has seen the 5, and is told of after that.
    @Test(
        "Of a branch that was swapped and a job that has ended what the store did last counts, whatever is told first",
        arguments: [(swap: 1, end: 2, isSwapFirst: true), (1, 2, false), (2, 1, true), (2, 1, false)]
            as [(swap: UInt64, end: UInt64, isSwapFirst: Bool)])
    func order(swap: UInt64, end: UInt64, isSwapFirst: Bool) throws {
        let (job, other) = (try #require(JobID("elm")), ReplicaID(2))
        let former = VersionVector([.init(replica: other, head: JournalHead(sequence: 5, digest: 55))])
        let branch = JournalHead(sequence: 4, digest: 44)
        var mesh = Mesh(
            device: try #require(DeviceID(String(repeating: "a1", count: 32))), replica: ReplicaID(1), instance: 1,
            name: "anna", jobs: [(job, former)])
        let seen = end > swap ? VersionVector([.init(replica: other, head: branch)]) : former
        let (later, places) = (end > swap, isSwapFirst ? [0, 1] : [1, 0])
        for place in places {
            if place == 0 {
                _ = mesh.onBranchAdopted(branch, job: job, replica: other, reissued: nil, order: swap, now: 1_000)
            } else {
                // Where the end came later it has seen the swap, and says so of the journal.
                _ = mesh.onJobRemoved(
                    JobRemoval(name: "Elm", heads: seen), of: job, vector: seen, replaced: later ? [other] : [],
                    order: end, now: 1_000)
            }
        }
        #expect(mesh.vector(of: job)[other] == branch)
    }

    private func head(_ sequence: UInt64) -> JournalHead {
        JournalHead(sequence: sequence, digest: JournalDigest(sequence &* 77))
    }

    private func segment(_ sequence: UInt64) -> JournalSegment {
        JournalSegment(replica: ReplicaID(1), first: sequence, head: head(sequence), bytes: [1])
    }
}
