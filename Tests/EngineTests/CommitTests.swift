import CRDT
import Inventory
import Replication
import Storage
import Synchronization
import Testing

@testable import Engine
@testable import Simulation

/// The mesh, and who watches, hear of each commit in its turn.
@Suite("Telling of commits", .timeLimit(.minutes(1)))
struct CommitTests {
    @Test("Commits that wait to be told of are told of in their order, and those with statements to the outbox")
    func inOrder() throws {
        let anna = try Anna()
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            let kept = anna.keepCommits()
            let first = try await anna.write()
            let second = try await anna.write()
            _ = try await anna.store.removeJob(Anna.job, now: anna.clock.now)
            anna.tell(kept)
            await anna.replicator.tellCommitted()
            let own = anna.store.identity.replica
            let advances = anna.told.advances.withLock { $0 }
            let sequences = advances.map { $0.vector[own].sequence }
            #expect(sequences.count == 3 && sequences == sequences.sorted() && Set(sequences).count == 3)
            #expect(sequences.prefix(2) == [first.segment.head.sequence, second.segment.head.sequence])
            #expect(advances.map(\.concernsOutbox) == [false, false, true])
        }
    }

    @Test("A branch that takes the place of the own one is not told of as before")
    func beforeABranch() throws {
        let anna = try Anna()
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            let common = try await anna.write().segment.head
            await anna.replicator.tellCommitted()
            let former = anna.store.identity.replica
            var generator = SeededGenerator(seed: 1)
            let copy = try Store.openInMemory(
                contents: anna.store.copy(), place: StorePlace(machine: "anna", file: "1"), hostName: "anna",
                signer: TestSigner(1), generator: &generator)
            let note = Edit.note(item: ItemID(1), text: "of the copy")
            _ = try await copy.edit(job: Anna.job, now: { [clock = anna.clock] in clock.now }, [note])
            let branch = try #require(
                try await copy.segment(
                    of: former, job: Anna.job, from: common.sequence + 1, maximumBytes: 1 << 20))
            let kept = anna.keepCommits()
            for _ in 0..<3 { _ = try await anna.write() }
            anna.tell(kept)
            await anna.replicator.adopt(branch, job: Anna.job, after: common.sequence, from: nil)
            await anna.replicator.tellCommitted()
            #expect(anna.store.identity.replica != former)
            let told = await anna.replicator.holdings(of: Anna.job)
            #expect(try await told.vector == anna.store.vector(of: Anna.job))
        }
    }
}
