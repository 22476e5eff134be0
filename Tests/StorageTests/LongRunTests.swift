import CRDT
import Inventory
import Replication
import Simulation
import Storage
import Testing

@Suite("Long runs of journal", .timeLimit(.minutes(2)))
struct LongRunTests {
    @Test("A batch of any size comes out in pieces that fit into frames, each with its digest")
    func batches() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        try await anna.put(1, "name", "first")
        let text = String(repeating: "x", count: 4_000)
        let edits = (2...1_000 as ClosedRange<UInt128>).map { item in
            Edit.put(item: ItemID(item), fields: [Edit.FieldValue(field: "name", value: "\(text)\(item)")])
        }
        _ = try await anna.edit(job: Store.job, nowMilliseconds: 2_000, edits)
        #expect(try await pieces(of: anna, to: bert) > 10)
        #expect(try await anna.vector(of: Store.job) == bert.vector(of: Store.job))
        #expect(try await anna.exported() == bert.exported())
    }

    @Test("Edits that were joined come out in pieces that fit into frames")
    func joinedEdits() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        let text = String(repeating: "x", count: 8_000)
        for item in 1...300 as ClosedRange<UInt128> { try await anna.put(item, "name", "\(text)\(item)") }
        #expect(try await anna.segmentCount() < 300, "some were joined")
        #expect(try await pieces(of: anna, to: bert) > 5)
        #expect(try await anna.exported() == bert.exported())
    }

    @Test("A small piece that changes a thousand pages is stored, and leaves nothing when it is undone")
    func manyPages() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        let text = String(repeating: "x", count: 9_000)
        let items = (1...1_000 as ClosedRange<UInt128>).map { ItemID($0) }
        _ = try await anna.edit(
            job: Store.job, createsJob: true, nowMilliseconds: 1_000,
            items.map { Edit.put(item: $0, fields: [Edit.FieldValue(field: "name", value: text)]) })
        _ = try await pieces(of: anna, to: bert)
        let held = try await bert.vector(of: Store.job)[anna.identity.replica]
        _ = try await anna.edit(
            job: Store.job, nowMilliseconds: 2_000,
            items.map { Edit.put(item: $0, fields: [Edit.FieldValue(field: "room", value: "Hall")]) })
        let piece = try #require(
            try await anna.segment(
                of: anna.identity.replica, job: Store.job, from: held.sequence + 1, maximumBytes: .max))
        #expect(piece.bytes.count < ProtocolLimits.deltaBytes)
        let lie = try place.sign(piece, upTo: JournalHead(sequence: piece.head.sequence, digest: 1))
        #expect(try await bert.ingest(lie, job: Store.job, now: .anyTime).result == .forked(held))
        #expect(try await bert.ingest(piece, job: Store.job, now: .anyTime).result == .stored)
        #expect(try await anna.exported() == bert.exported())
    }

    /// Brings the journal of `store` over as a peer's stream does; returns in how many pieces.
    private func pieces(of store: Store, to other: Store) async throws -> Int {
        var count = 0
        var next: UInt64 = 1
        while let piece = try await store.segment(
            of: store.identity.replica, job: Store.job, from: next, maximumBytes: ProtocolLimits.deltaBytes)
        {
            #expect(piece.first == next)
            #expect(piece.bytes.count < ProtocolLimits.frameBytes - 1_024)
            guard try await other.ingest(piece, job: Store.job, now: .anyTime).result == .stored else {
                Issue.record("piece \(count) was not stored")
                return count
            }
            next = piece.head.sequence + 1
            count += 1
        }
        return count
    }
}
