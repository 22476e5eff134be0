import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A branch that is given up after its store has become somebody else", .timeLimit(.minutes(1)))
struct ReissuedAfterHoldTests {
    @Test("Its work is written again, though the new replica has said already what it holds")
    func reissued() async throws {
        var generator = SeededGenerator(seed: 3)
        let place = StorePlace(machine: "laptop", file: "store")
        let anna = try Store.openInMemory(place: place, hostName: "anna", generator: &generator)
        // A clone that nothing tells from the original.
        let clone = try Store.openInMemory(
            contents: try anna.copy(), place: place, hostName: "anna", generator: &generator)
        let forked = anna.identity.replica
        _ = try await anna.put(1, "name", "e1")
        _ = try await clone.put(5, "barcode", "e2")
        _ = try await clone.renewDevice(using: &generator)
        _ = try await clone.retire(job: Store.job, now: .known(5_000))
        _ = try await clone.put(7, "name", "e3", now: 6_000)
        _ = try await clone.retire(job: Store.job, now: .known(9_000))
        let branch = try #require(
            try await anna.segment(of: forked, job: Store.job, from: 1, maximumBytes: .max))
        let adopted = try await clone.adoptBranch(
            branch, job: Store.job, after: 0, now: .known(10_000), using: &generator)
        #expect(adopted.reissued != nil)
        #expect(try await clone.item(ItemID(5), job: Store.job)?.value(of: "barcode") == "e2")
        #expect(try await clone.item(ItemID(1), job: Store.job)?.value(of: "name") == "e1")
        #expect(try await clone.timeline(of: Store.job, item: ItemID(5)).count == 1)
    }
}
