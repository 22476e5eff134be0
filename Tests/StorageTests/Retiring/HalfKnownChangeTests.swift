import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A change that a cut knows only half of", .timeLimit(.minutes(1)))
struct HalfKnownChangeTests {
    @Test("It stands on a branch that the remover of the job did not hold, and is late, also once the fork is settled")
    func removedJob() async throws {
        let crew = try Crew(2)
        let (bert, cleo) = (crew.stores[0], crew.stores[1])
        let (anna, clone) = try Store.twins(using: &crew.generator)
        let forked = anna.identity.replica
        try await crew.put(anna, 1, "e1")
        let fields = ["name", "room"].map { Edit.FieldValue(field: $0, value: "e2") }
        _ = try await clone.edit(
            job: Store.job, createsJob: true, nowMilliseconds: crew.tick(), [.put(item: ItemID(2), fields: fields)])
        try await Crew.send(clone, cleo)
        try await Crew.send(anna, bert)
        let removal = ReceiveTime.known(crew.tick())
        _ = try await bert.removeJob(Store.job, now: removal)
        _ = try await clone.renewDevice(using: &crew.generator)
        // One has the change before it learns of the removal, the other after.
        let dora = try crew.join()
        for store in [clone, cleo] { try await Self.tell(store, of: bert) }
        try await Self.tell(dora, of: bert)
        try await Crew.send(clone, dora)
        for store in [clone, cleo, dora] {
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(2)])
            #expect(try await store.live().isEmpty)
        }
        #expect(try await cleo.exported() == dora.exported())
        let branch = try await bert.whole(forked)
        _ = try await clone.adoptBranch(
            branch, job: Store.job, after: 0, now: .anyTime, using: &crew.generator)
        #expect(try await clone.lateChanges(of: Store.job).map(\.change.item) == [ItemID(2)])
        #expect(try await clone.live().isEmpty)
    }

    /// The removal alone, as it comes when the fork is not noticed yet.
    private static func tell(_ store: Store, of remover: Store) async throws {
        guard case .stored = try await store.ingest(remover.whole(), job: Store.job, now: .anyTime) else {
            Issue.record("The removal was not stored.")
            return
        }
    }
}
