import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A fold in a job that is removed", .timeLimit(.minutes(1)))
struct FoldInRemovedJobTests {
    @Test("What it forgets is no late work, whichever comes first, the fold or the removal")
    func eitherOrder() async throws {
        let crew = try Crew(4)
        let (anna, bert, cleo, dora) = (crew.stores[0], crew.stores[1], crew.stores[2], crew.stores[3])
        try await crew.put(anna, 1, "Lamp")
        try await Crew.send(anna, cleo)
        let removal = ReceiveTime.known(crew.tick())
        _ = try await anna.removeJob(Store.job, now: removal)
        // Bert knows nothing of it, works, and forgets by himself what he has removed.
        try await crew.put(bert, 2, "Chair")
        try await crew.put(bert, 3, "Table")
        try await crew.remove(bert, 2)
        try await Crew.send(bert, dora)
        #expect(try await crew.settle([bert]) > 0)
        try await Crew.send(bert, cleo)
        try await Crew.send(anna, cleo)
        // The removal first, while nothing is forgotten; then the fold.
        try await Crew.send(anna, dora)
        #expect(try await dora.lateChanges(of: Store.job).count == 3)
        try await Crew.send(bert, dora)
        for store in [cleo, dora] {
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(3)])
        }
    }
}
