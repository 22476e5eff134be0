import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Statements that were read once", .timeLimit(.minutes(1)), .serialized)
struct RosterCacheTests {
    private static let replicas = 12
    private static let holds = 1_000

    /// Journals of a dozen laptops that said a thousand times each what they hold, and one cut.
    private func manyStatements(in store: Store) async throws {
        let names = (1...Self.replicas).map { ReplicaID(UInt128($0)) }
        for name in names {
            var bytes: [UInt8] = []
            for number in 1...Self.holds {
                let positions = names.filter { $0 != name }.map {
                    Position(replica: $0, sequence: UInt64(number))
                }
                let stamp = Stamp(milliseconds: UInt64(number), counter: 0)
                bytes += ChangeCodec.encode(Change(item: .job, stamp: stamp, operations: [.hold(positions)]))
            }
            let cut = CRDT.Operation.expel(ReplicaID(99), known: 1)
            bytes += ChangeCodec.encode(Change(item: .job, stamp: .zero, operations: [cut]))
            let run = JournalSegment(
                replica: name, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
            guard case .stored = try await store.ingest(run, job: Store.job, now: .anyTime) else {
                Issue.record("not stored")
                return
            }
        }
    }

    @Test("After a cut an edit or a peer's change does not read again what thousands of statements say")
    func edits() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await manyStatements(in: anna)
        try await crew.put(anna, 1, "thing")
        let before = Store.decodedStatements
        let start = ContinuousClock.now
        for number in 2...50 as ClosedRange<UInt128> { try await crew.put(anna, number, "thing \(number)") }
        try await crew.put(bert, 100, "of bert")
        for number in 101...150 as ClosedRange<UInt128> {
            try await crew.put(bert, number, "of bert")
            let replica = bert.identity.replica
            let held = try await anna.vector(of: Store.job)[replica].sequence
            let run = try #require(
                try await bert.segment(of: replica, job: Store.job, from: held + 1, maximumBytes: .max))
            _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        }
        let decoded = Store.decodedStatements - before
        print("50 edits and 50 runs of a peer: \(ContinuousClock.now - start), \(decoded) statements decoded")
        // Other tests of this process may decode a few at the same time.
        #expect(decoded < Self.replicas * Self.holds / 2)
        #expect(try await anna.live().count == 101)
    }

    @Test("What a transaction said that was undone is not remembered")
    func undone() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        _ = try await crew.settle()
        try await crew.put(bert, 1, "bert's")
        let replica = bert.identity.replica
        let time = ReceiveTime.known(crew.tick())
        let standing = { try await anna.roster(of: Store.job).first { $0.replica == replica }?.standing }
        anna.setDiskFull(true)
        await #expect(throws: StoreError.self) { try await anna.expel(replica, job: Store.job, now: time) }
        anna.setDiskFull(false)
        #expect(try await standing() == .member)
        _ = try await anna.expel(replica, job: Store.job, now: time)
        #expect(try await standing() == .expelled)
        _ = try await crew.settle()
        #expect(try await anna.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1)])
        #expect(try await anna.exported() == bert.exported())
    }

    @Test("Two stores with one content and different futures do not see each other's statements")
    func copies() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        _ = try await crew.settle()
        let copy = try crew.join(contents: try anna.copy())
        let time = ReceiveTime.known(crew.tick())
        _ = try await anna.expel(bert.identity.replica, job: Store.job, now: time)
        #expect(try await copy.roster(of: Store.job).allSatisfy { $0.standing == .member })
        _ = try await copy.expel(anna.identity.replica, job: Store.job, now: time)
        let expelled = { (store: Store) in
            try await store.roster(of: Store.job).filter { $0.standing == .expelled }.map(\.replica)
        }
        #expect(try await expelled(anna) == [bert.identity.replica])
        #expect(try await expelled(copy) == [anna.identity.replica])
    }
}
