import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("What was last heard of a laptop is kept", .timeLimit(.minutes(1)))
struct HeardTests {
    private let device = DeviceID(String(repeating: "ab", count: 32))

    @Test("How far a laptop held the jobs in which it takes part is kept as it was told last, under any of its names")
    func remembered() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "lamp")
        try await crew.put(bert, 2, "sofa")
        try await crew.exchange()
        let device = try #require(device)
        let vector = try await bert.vector(of: Store.job)
        try await anna.note(Heard(device: device, name: "laptop 1", at: 5_000), holding: [(Store.job, vector)])
        try await crew.put(anna, 3, "desk")
        // Its clock was put right, its store set back, and then it caught up again under another name.
        let former = Heard(device: device, name: "laptop 1", at: 1_000)
        try await anna.note(former, holding: [(Store.job, VersionVector(vector.entries.prefix(1)))])
        #expect(try await anna.lastKnown(of: device, job: Store.job).count == 1)
        let renamed = Heard(device: device, name: "new name", at: 6_000)
        try await anna.note(renamed, holding: [(Store.job, vector)])
        #expect(try await anna.heard() == [former, renamed])
        let known = try await anna.lastKnown(of: device, job: Store.job)
        #expect(known == vector.entries.map { Position(replica: $0.replica, sequence: $0.head.sequence) })
        let own = anna.identity.replica
        let head = try await anna.vector(of: Store.job)[own].sequence
        let missing = try await anna.items(in: own, job: Store.job, from: known[of: own] + 1, to: head, limit: 5)
        #expect(missing.items.map(\.id) == [ItemID(3)] && missing.count == 1)
    }

    @Test("Of a laptop that has written nothing in a job nothing is kept but when it was heard of")
    func onlyWhoTakesPart() async throws {
        let crew = try Crew(1)
        try await crew.put(crew.stores[0], 1, "lamp")
        let device = try #require(device)
        let vector = try await crew.stores[0].vector(of: Store.job)
        try await crew.stores[0].note(
            Heard(device: device, name: "passer-by", at: 7), holding: [(Store.job, vector)])
        #expect(try await crew.stores[0].heard().map(\.name) == ["passer-by"])
        #expect(try await crew.stores[0].lastKnown(of: device, job: Store.job).isEmpty)
    }
}
