import CRDT
import Inventory
import Storage
import Testing

@Suite("The digest of a job", .timeLimit(.minutes(1)))
struct ReportTests {
    @Test("It is never that of a state before a held change came due, though the vector is the same")
    func dueMeanwhile() async throws {
        let place = try Place()
        let (store, other) = (try place.open(), try place.open("b"))
        let now: UInt64 = 1_700_000_000_000
        for item in 1...200 as ClosedRange<UInt128> { try await store.put(item, "name", "thing \(item)", now: now) }
        for round in 1...60 as ClosedRange<UInt64> {
            let stamp = Stamp(milliseconds: now + round * 3_600_000, counter: 0)
            let change = Change(
                item: ItemID(1), stamp: stamp, operations: [.set(field: "room", value: "\(round)", replaces: [])])
            let before = ReceiveTime(milliseconds: stamp.milliseconds - 3_000_000, isSynchronised: true)
            let bytes = ChangeCodec.encode(change)
            let run = JournalSegment(
                replica: ReplicaID(UInt128(1_000 + round)), first: 1,
                head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
            _ = try await store.ingest(run, job: Store.job, now: before)
            let after = ReceiveTime(milliseconds: stamp.milliseconds, isSynchronised: true)
            // Whoever tidies up asks for the digest while the change comes due.
            async let asked = store.report(of: Store.job)
            async let applied = store.applyDue(now: after)
            _ = try await (asked, applied)
            #expect(try await store.heldChanges().isEmpty)
            let kept = try await store.report(of: Store.job).digest
            _ = try await store.send(to: other)
            _ = try await other.applyDue(now: after)
            #expect(try await other.report(of: Store.job).digest == kept, "round \(round)")
        }
    }
}
