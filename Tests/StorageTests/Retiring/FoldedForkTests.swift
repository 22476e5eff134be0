import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A store set back to before a fold", .timeLimit(.minutes(1)))
struct FoldedForkTests {
    @Test("Its branch gives way to the stubs; what it wrote is late, and nothing folded comes back")
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
        #expect(live == (4...6).map { ItemID($0) })
        let late = try await bert.lateChanges(of: Store.job).map(\.change.item)
        for item in [1, 5, 50] as [UInt128] { #expect(late.contains(ItemID(item))) }
    }

    /// Where two copies of a journal last had the same digest, as the search of the mesh finds it.
    private func lastCommonPlace(of replica: ReplicaID, _ left: Store, _ right: Store) async throws -> UInt64 {
        var common: UInt64 = 0
        var place: UInt64 = 1
        while let own = try await left.boundary(of: replica, job: Store.job, at: place),
            let other = try await right.boundary(of: replica, job: Store.job, at: place)
        {
            if own.head == other.head {
                common = own.head.sequence
                place = common + 1
            } else if own.head.sequence != other.head.sequence, own.changeHash == 0 || other.changeHash == 0 {
                place = max(own.head.sequence, other.head.sequence)
            } else {
                return common
            }
        }
        return common
    }
}
