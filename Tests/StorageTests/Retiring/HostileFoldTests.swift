import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Folds of peers that mean harm", .timeLimit(.minutes(1)))
struct HostileFoldTests {
    private let liar = ReplicaID(7)

    /// A fold that names one run of a journal and claims to forget some items.
    private func fold(
        _ items: [ItemID], _ run: ClosedRange<UInt64>, of replica: ReplicaID, by crew: Crew
    ) async throws -> JournalSegment {
        let members = crew.stores.map(\.identity.replica) + [liar]
        let whole = try #require(
            try await crew.stores[0].segment(of: replica, job: Store.job, from: 1, maximumBytes: .max))
        var head = JournalHead.empty
        for change in try ChangeCodec.decodeAll(whole.bytes) where head.sequence < run.upperBound {
            head = try JournalDigest.extend(head, with: ChangeCodec.encode(change))
        }
        let journal = Fold.Journal(replica: replica, runs: [Fold.Run(run, digest: head.digest)])
        let fold = Fold(
            bounds: [Position(replica: liar, sequence: 1)], members: members.sorted(), items: items,
            journals: [journal])
        let stamp = Stamp(milliseconds: crew.tick(), counter: 0)
        let bytes = ChangeCodec.encode(Change(item: .job, stamp: stamp, operations: [.fold(fold)]))
        return JournalSegment(
            replica: liar, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
    }

    @Test(
        "A fold of the tombstone alone brings nothing back, neither where the writes are nor where they come later",
        arguments: [true, false])
    func tombstoneAlone(namesTheItem: Bool) async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...3 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        try await Crew.send(anna, bert)
        try await crew.remove(bert, 1)
        try await Crew.send(bert, anna)
        let last = try await bert.vector(of: Store.job)[bert.identity.replica].sequence
        let items = namesTheItem ? [ItemID(1)] : []
        let lie = try await fold(items, last...last, of: bert.identity.replica, by: crew)
        // Cleo hears of the tombstone and of the fold before she hears of the writes.
        let cleo = try crew.join()
        for store in crew.stores {
            if store === cleo {
                _ = try await cleo.ingest(bert.whole(), job: Store.job, now: .anyTime)
            }
            guard case .stored = try await store.ingest(lie, job: Store.job, now: .anyTime) else {
                Issue.record("not stored")
                return
            }
        }
        try await Crew.send(anna, cleo)
        for store in crew.stores {
            #expect(try await store.live() == [ItemID(2), ItemID(3)])
            #expect(try await store.exported() == anna.exported())
            let job = try await store.job(Store.job)
            #expect(job.items == 2 && job.removed == (namesTheItem ? 0 : 1))
        }
        // Nor does anything written on it later, though its author has said to hold the tombstone.
        let stray = Change(
            item: ItemID(1), stamp: Stamp(milliseconds: crew.tick(), counter: 0),
            operations: [.set(field: "name", value: "back", replaces: [])])
        let bytes = ChangeCodec.encode(stray)
        let head = try JournalDigest.extend(lie.head, with: bytes)
        let run = JournalSegment(replica: liar, first: 2, head: head, bytes: bytes)
        for store in crew.stores {
            _ = try await store.ingest(run, job: Store.job, now: .anyTime)
            #expect(try await store.live() == [ItemID(2), ItemID(3)])
            #expect(try await store.exported() == anna.exported())
        }
        if namesTheItem {
            let refusals = try await anna.edit(
                job: Store.job, nowMilliseconds: crew.tick(),
                [.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "again")])]
            ).refusals
            #expect(refusals == [.unknown(ItemID(1))])
        }
    }

    @Test("A fold that names what was written on an item without naming the item takes nothing of it")
    func writesAlone() async throws {
        let crew = try Crew(2)
        let anna = crew.stores[0]
        try await crew.put(anna, 1, "thing")
        try await Crew.send(anna, crew.stores[1])
        let last = try await anna.vector(of: Store.job)[anna.identity.replica].sequence
        let lie = try await fold([], last...last, of: anna.identity.replica, by: crew)
        let newcomer = try crew.join()
        for store in crew.stores[..<2] { _ = try await store.ingest(lie, job: Store.job, now: .anyTime) }
        try await Crew.send(crew.stores[1], newcomer)
        for store in crew.stores {
            #expect(try await store.live() == [ItemID(1)])
            #expect(try await store.exported() == anna.exported())
        }
    }

    @Test("Nobody has to wait for what a fold names and nobody holds")
    func namesWhatNobodyHolds() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        _ = try await crew.settle()
        let nobody = ReplicaID(8)
        let fold = Fold(
            bounds: [Position(replica: liar, sequence: 1), Position(replica: nobody, sequence: 1 << 40)],
            members: [liar], items: [],
            journals: [Fold.Journal(replica: nobody, runs: [Fold.Run(1...1 << 40, digest: 5)])])
        let stamp = Stamp(milliseconds: crew.tick(), counter: 0)
        let bytes = ChangeCodec.encode(Change(item: .job, stamp: stamp, operations: [.fold(fold)]))
        let lie = JournalSegment(
            replica: liar, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
        _ = try await anna.ingest(lie, job: Store.job, now: .anyTime)
        try await crew.put(anna, 2, "written meanwhile")
        _ = try await crew.settle()
        try await crew.put(bert, 3, "and this")
        _ = try await crew.settle()
        for store in crew.stores {
            #expect(try await store.live() == [2, 3].map { ItemID($0) })
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1)])
            #expect(try await store.holdsWhatFoldsName(of: Store.job))
        }
    }
}
