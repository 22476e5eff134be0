import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A store set back to before a fold", .timeLimit(.minutes(1)))
struct FoldedForkTests {
    @Test("Its branch gives way to the stubs; what it wrote on what is gone is late, and nothing folded comes back")
    func setBack() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...6 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        _ = try await crew.settle()
        let backup = try anna.copy()
        try await crew.put(anna, 2, "anna's last word")
        for item in 1...3 as ClosedRange<UInt128> { try await crew.remove(bert, item) }
        _ = try await crew.settle()
        #expect(try await bert.tombstones().isEmpty)

        var generator = SeededGenerator(seed: 99)
        let restored = try Store.openInMemory(
            contents: backup, place: StorePlace(machine: "laptop 0", file: "store"), hostName: "laptop 0",
            generator: &generator)
        let former = anna.identity.replica
        #expect(restored.identity.replica == former)
        try await crew.put(restored, 1, "written on what is gone")
        try await crew.put(restored, 5, "written on what is there")
        try await crew.put(restored, 50, "a new thing")
        // Everything but its own journal arrives first: the fold names what its own journal does not have.
        let known = try await restored.vector(of: Store.job)[bert.identity.replica].sequence
        let run = try #require(
            try await bert.segment(of: bert.identity.replica, job: Store.job, from: known + 1, maximumBytes: .max))
        _ = try await restored.ingest(run, job: Store.job, now: .anyTime)
        #expect(try await restored.live().contains(ItemID(50)), "its own branch is not what the fold means")

        let keep = try await lastCommonPlace(of: former, restored, bert)
        let branch = try #require(
            try await bert.segment(of: former, job: Store.job, from: keep + 1, maximumBytes: .max))
        #expect(branch.first == keep + 1)
        let adopted = try await restored.adoptBranch(
            branch, job: Store.job, after: keep, now: .anyTime, using: &generator)
        #expect(try await adopted.head == bert.vector(of: Store.job)[former])
        #expect(restored.identity.replica != former)

        for _ in 0..<4 {
            try await Crew.send(restored, bert)
            try await Crew.send(bert, restored)
            for store in [restored, bert] { _ = try await crew.retire(store) }
        }
        try await Crew.send(restored, bert)
        try await Crew.send(bert, restored)
        #expect(try await restored.vector(of: Store.job) == bert.vector(of: Store.job))
        #expect(try await restored.exported() == bert.exported())
        let live = try await bert.live()
        #expect(live == [4, 5, 6, 50].map { ItemID($0) })
        #expect(try await bert.item(ItemID(5), job: Store.job)?.value(of: "name") == "written on what is there")
        let late = try await bert.lateChanges(of: Store.job)
        #expect(late.map(\.change.item) == [ItemID(1)])
        #expect(late.first?.author == former)
        #expect(try await bert.roster(of: Store.job).allSatisfy { $0.standing == .member })
        let decisions = try await bert.timeline(of: Store.job, item: .job).flatMap(\.decisions)
        #expect(decisions.isEmpty, "that it marked its work as late is nobody's decision")
    }

    /// Anna's store twice under one name, each of which goes on alone. `anna` has folded item 1 away.
    private func clones() async throws -> (anna: Store, clone: Store, crew: Crew, keep: UInt64) {
        let crew = try Crew(1)
        let anna = crew.stores[0]
        for item in 1...3 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        let keep = try await anna.vector(of: Store.job)[anna.identity.replica].sequence
        let clone = try Store.openInMemory(
            contents: try anna.copy(), place: StorePlace(machine: "laptop 0", file: "store"), hostName: "laptop 0",
            generator: &crew.generator)
        #expect(clone.identity == anna.identity)
        try await crew.remove(anna, 1)
        #expect(try await crew.settle() > 0)
        #expect(try await anna.tombstones().isEmpty)
        #expect(try await anna.live() == [ItemID(2), ItemID(3)])
        return (anna, clone, crew, keep)
    }

    @Test("What was folded on a branch that gives way stays away, for those who never held that branch, too")
    func foldOnTheBranchThatGivesWay() async throws {
        let (anna, clone, crew, keep) = try await clones()
        let forked = anna.identity.replica
        try await crew.put(clone, 2, "the clone's word")
        try await crew.put(anna, 3, "anna's word")
        let other = try crew.join()
        try await Crew.send(clone, other)
        let branch = try #require(
            try await clone.segment(of: forked, job: Store.job, from: keep + 1, maximumBytes: .max))
        _ = try await anna.adoptBranch(branch, job: Store.job, after: keep, now: .anyTime, using: &crew.generator)
        try await Crew.send(anna, clone)
        try await Crew.send(anna, other)
        for store in [anna, clone, other] {
            #expect(try await store.live() == [ItemID(2), ItemID(3)])
            #expect(try await store.holdsWhatFoldsName(of: Store.job))
            #expect(try await store.item(ItemID(3), job: Store.job)?.value(of: "name") == "anna's word")
            #expect(try await store.exported() == anna.exported())
            #expect(try await store.item(ItemID(2), job: Store.job)?.value(of: "name") == "the clone's word")
        }
    }

    @Test("A fold in another journal that names what the staying branch lacks hinders nobody")
    func foldElsewhere() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...3 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        _ = try await crew.settle()
        let forked = anna.identity.replica
        let keep = try await anna.vector(of: Store.job)[forked].sequence
        let clone = try Store.openInMemory(
            contents: try anna.copy(), place: StorePlace(machine: "laptop 0", file: "store"), hostName: "laptop 0",
            generator: &crew.generator)
        try await crew.remove(anna, 1)
        #expect(try await crew.settle() > 0)
        #expect(try await anna.foldCount(of: Store.job) == 1)
        try await crew.put(clone, 2, "the clone's word")
        let branch = try #require(
            try await clone.segment(of: forked, job: Store.job, from: keep + 1, maximumBytes: .max))
        for store in [anna, bert] {
            _ = try await store.adoptBranch(
                branch, job: Store.job, after: keep, now: .anyTime, using: &crew.generator)
        }
        for _ in 0..<2 {
            for from in [anna, bert, clone] {
                for to in [anna, bert, clone] where from !== to { try await Crew.send(from, to) }
            }
        }
        for store in [anna, bert, clone] {
            #expect(try await store.live() == [ItemID(2), ItemID(3)])
            #expect(try await store.holdsWhatFoldsName(of: Store.job))
            #expect(try await store.exported() == anna.exported())
        }
    }

    /// Where two copies of a journal last had the same digest, as the search of the mesh finds it.
    private func lastCommonPlace(of replica: ReplicaID, _ left: Store, _ right: Store) async throws -> UInt64 {
        var common: UInt64 = 0
        var place: UInt64 = 1
        while let own = try await left.boundary(of: replica, job: Store.job, at: place),
            let other = try await right.boundary(of: replica, job: Store.job, at: place)
        {
            guard own.head == other.head else { return common }
            common = own.head.sequence
            place = common + 1
        }
        return common
    }
}
