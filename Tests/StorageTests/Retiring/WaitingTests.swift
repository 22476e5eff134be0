import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Work while something is missing", .timeLimit(.minutes(1)))
struct WaitingTests {
    private let stranger = ReplicaID(7)

    private func run(_ bytes: [UInt8], after base: JournalHead = .empty) throws -> JournalSegment {
        JournalSegment(
            replica: stranger, first: base.sequence + 1, head: try JournalDigest.extend(base, with: bytes),
            bytes: bytes)
    }

    private func record(_ item: ItemID, at milliseconds: UInt64, _ operation: CRDT.Operation) -> [UInt8] {
        let stamp = Stamp(milliseconds: milliseconds, counter: 0)
        return ChangeCodec.encode(Change(item: item, stamp: stamp, operations: [operation]))
    }

    /// A store that was taken off the roster by a stranger whose journal begins with something else.
    private func expelled(by first: [UInt8]) async throws -> (crew: Crew, anna: Store) {
        let crew = try Crew(1)
        let anna = crew.stores[0]
        try await crew.put(anna, 1, "thing")
        let expel = record(.job, at: crew.tick(), .expel(anna.identity.replica, known: 3))
        let outcome = try await anna.ingest(try run(first + expel), job: Store.job, now: .known(crew.now))
        guard case .stored = outcome else { throw Crew.Unexpected(outcome: outcome) }
        return (crew, anna)
    }

    @Test("Who is off the roster takes part again, though a write of whoever did it lies in the future")
    func heldWrite() async throws {
        let write = CRDT.Operation.set(field: "name", value: "from the future", replaces: [])
        let future = record(ItemID(1), at: 1_800_000_000_000, write)
        let (crew, anna) = try await expelled(by: future)
        #expect(try await anna.heldChanges().count == 1)
        try await crew.put(anna, 2, "written on")
        #expect(try await anna.live() == [ItemID(1), ItemID(2)])
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
        #expect(try await anna.roster(of: Store.job).allSatisfy { $0.standing == .member })
    }

    @Test(
        "Behind a removal from the future, or a stub that nothing explains, nobody waits longer than ten minutes",
        arguments: [true, false])
    func patience(isStub: Bool) async throws {
        let first =
            isStub ? JournalStub(count: 5, hash: 9).bytes : record(ItemID(1), at: 1_800_000_000_000, .remove)
        let (crew, anna) = try await expelled(by: first)
        #expect(try await anna.incompleteJobs() == (isStub ? [Store.job] : []))
        do {
            try await crew.put(anna, 2, "too early")
            Issue.record("not refused")
        } catch let error as StoreError {
            #expect(error.code == .catchingUp)
            #expect(error.description.contains(isStub ? "5 forgotten transforms" : "1 removal whose"))
            print(error.description)
        }
        let edit = Edit.put(item: ItemID(2), fields: [Edit.FieldValue(field: "name", value: "written on")])
        await #expect(throws: StoreError.self) {
            try await anna.edit(job: Store.job, nowMilliseconds: crew.now + 500_000, [edit])
        }
        _ = try await anna.edit(job: Store.job, nowMilliseconds: crew.now + 700_000, [edit])
        #expect(try await anna.live().contains(ItemID(2)))
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
    }
}
