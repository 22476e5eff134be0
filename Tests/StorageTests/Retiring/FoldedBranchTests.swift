import CRDT
import Inventory
import Simulation
import Storage
import Testing

/// Folds that name one branch of a journal, where another branch of it stays.
@Suite("A fold of one branch, and another that stays", .timeLimit(.minutes(1)))
struct FoldedBranchTests {
    @Test("What stands before the fork is folded by whoever has not yet, so that all show one timeline")
    func commonPart() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...3 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        try await crew.remove(anna, 1)
        let forked = anna.identity.replica
        let keep = try await anna.vector(of: Store.job)[forked].sequence
        let backup = try anna.copy()
        // One fold names what stands before the fork and what stands behind it.
        try await crew.remove(anna, 2)
        #expect(try await crew.settle() > 0)
        #expect(try await bert.foldCount(of: Store.job) == 1)
        #expect(try await bert.tombstones().isEmpty)

        let restored = try Store.openInMemory(
            contents: backup, place: StorePlace(machine: "laptop 0", file: "store"), hostName: "laptop 0",
            generator: &crew.generator)
        try await crew.put(restored, 4, "after the restore")
        let branch = try #require(
            try await restored.segment(of: forked, job: Store.job, from: keep + 1, maximumBytes: .max))
        _ = try await bert.adoptBranch(branch, job: Store.job, after: keep, now: .anyTime, using: &crew.generator)
        try await Crew.send(bert, restored)
        #expect(try await bert.vector(of: Store.job) == restored.vector(of: Store.job))
        for store in [bert, restored] {
            let lines = try await store.timeline(of: Store.job, item: nil).map(\.item).filter { $0 != .job }
            #expect(lines == [ItemID(3), ItemID(4)])
            #expect(try await store.live() == [ItemID(3), ItemID(4)])
        }
        #expect(try await bert.changeCount(of: ItemID(1)) == 0)
        #expect(try await restored.changeCount(of: ItemID(1)) == 1, "its removal, next to what is on the other branch")
        #expect(try await crew.settle([bert, restored]) > 0)
        #expect(try await restored.changeCount(of: ItemID(1)) == 0)
        #expect(try await bert.vector(of: Store.job) == restored.vector(of: Store.job))
    }

    @Test("What is gone by a fold of a branch that nobody has is folded by another")
    func otherBranch() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...2 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        try await crew.remove(anna, 1)
        try await Crew.send(anna, bert)
        let run = Fold.Run(3...3, digest: 7)
        let fold = Fold(
            bounds: [], members: crew.stores.map(\.identity.replica).sorted(), items: [ItemID(1)],
            journals: [Fold.Journal(replica: anna.identity.replica, runs: [run])])
        let stranger = ReplicaID(9)
        let bytes = [[CRDT.Operation.hold([])], [.fold(fold)]].flatMap { operations in
            ChangeCodec.encode(
                Change(
                    item: .job, stamp: Stamp(milliseconds: crew.tick(), counter: 0), operations: operations))
        }
        let segment = JournalSegment(
            replica: stranger, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
        for store in [anna, bert] {
            guard case .stored = try await store.ingest(segment, job: Store.job, now: .anyTime) else {
                Issue.record("the fold is not taken")
                return
            }
            #expect(try await store.live() == [ItemID(2)])
        }
        #expect(try await bert.changeCount(of: ItemID(1)) == 2)
        // The stranger is on the roster, and has to be taken off before anything is forgotten.
        let now = ReceiveTime.known(crew.tick())
        _ = try await anna.expel(stranger, job: Store.job, now: now)
        #expect(try await crew.settle() > 0)
        for store in [anna, bert] {
            #expect(try await store.changeCount(of: ItemID(1)) == 0)
            #expect(try await store.live() == [ItemID(2)])
        }
    }

    @Test("What is written again on a removed item, behind the first hold of who writes it, is folded with it")
    func writtenAgain() async throws {
        let crew = try Crew(1)
        let bert = crew.stores[0]
        let (anna, _) = try Store.twins(using: &crew.generator)
        let forked = anna.identity.replica
        try await crew.put(anna, 1, "thing")
        let clone = try anna.clone(using: &crew.generator)
        let keep = try await anna.vector(of: Store.job)[forked].sequence
        try await Crew.send(anna, bert)
        try await crew.put(clone, 1, "scratched", field: "condition")
        try await crew.put(anna, 2, "another")
        _ = try await clone.renewDevice(using: &crew.generator)
        try await crew.remove(bert, 1)
        try await Crew.send(bert, clone)
        _ = try await crew.retire(clone)
        let branch = try #require(
            try await anna.segment(of: forked, job: Store.job, from: keep + 1, maximumBytes: .max))
        let adopted = try await clone.adoptBranch(
            branch, job: Store.job, after: keep, now: .known(crew.tick()), using: &crew.generator)
        #expect(adopted.reissued != nil)
        #expect(try await clone.timeline(of: Store.job, item: ItemID(1)).count == 3)
        let all = [anna, bert, clone]
        #expect(try await crew.settle(all) > 0)
        for store in all {
            #expect(try await store.timeline(of: Store.job, item: ItemID(1)).isEmpty)
            #expect(try await store.tombstones().isEmpty)
            #expect(try await store.live() == [ItemID(2)])
        }
    }
}
