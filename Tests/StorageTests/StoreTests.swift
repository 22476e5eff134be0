import Authorship
import CRDT
import Foundation
import GRDB
import Inventory
import Simulation
import Storage
import Testing

@Suite("The store", .timeLimit(.minutes(2)))
struct StoreTests {
    @Test("What was committed is there after opening again, and the journal continues")
    func reopening() async throws {
        let place = try Place()
        let first = try await place.open()
        try await first.put(1, "name", "Sofa")
        let identity = first.identity
        try first.close()
        let second = try await place.open()
        #expect(second.identity == identity)
        #expect(!second.wasCopied)
        let commit = try await second.put(1, "room", "Den")
        #expect(commit.segment.first == 3, "an preamble came first")
        #expect(try await second.item(ItemID(1), job: Store.job)?.value(of: "name") == "Sofa")
    }

    @Test("A commit is flushed to disk before it is acknowledged")
    func durability() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        #expect(try await store.synchronousSetting() == 2, "PRAGMA synchronous is FULL")
        #expect(try await store.journalMode() == "wal")
    }

    @Test("Two stores that exchange their journals export the same bytes, whatever the order")
    func convergence() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        var generator = SeededGenerator(seed: 4)
        for round in 0..<40 {
            for (index, store) in [anna, bert].enumerated() {
                let item = UInt128.random(in: 1...12, using: &generator)
                let clock = UInt64(1_000 + round * 10 + index)
                _ = try? await store.put(item, "name", "value \(generator.next() % 5)", now: clock)
                if generator.oneIn(15) {
                    _ = try await store.edit(
                        job: Store.job, nowMilliseconds: clock, [.remove(item: ItemID(item))])
                }
                if generator.oneIn(3) {
                    _ = try await store.edit(
                        job: Store.job, nowMilliseconds: clock, [.note(item: ItemID(item), text: "scratch \(round)")])
                }
            }
            if generator.oneIn(4) { _ = try await anna.send(to: bert) }
        }
        _ = try await anna.send(to: bert)
        _ = try await bert.send(to: anna)
        #expect(try await anna.vector(of: Store.job) == bert.vector(of: Store.job))
        #expect(try await anna.exported() == bert.exported())
        #expect(try await anna.digest(of: Store.job).text == bert.digest(of: Store.job).text)
        for store in [anna, bert] { try await expectCountersToMatch(store) }
    }

    /// The counters that are kept with the changes say what counting says.
    private func expectCountersToMatch(_ store: Store) async throws {
        let job = try await store.job(Store.job)
        let items = try await store.items(job: Store.job, limit: .max)
        #expect(job.items == items.count { $0.state.removed == nil })
        #expect(job.removed == items.count { $0.state.removed != nil })
        #expect(job.conflicts == items.reduce(0) { $0 + $1.state.conflictCount })
        #expect(
            try await store.conflicts(job: Store.job).map(\.id) == items.filter { $0.state.conflictCount > 0 }.map(\.id)
        )
    }

    @Test("Pieces of a journal may overlap; a gap, a repetition and a false digest change nothing")
    func ingesting() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        for item in 1...6 as ClosedRange<UInt128> { try await anna.put(item, "name", "thing \(item)") }
        let replica = anna.identity.replica
        let all = try #require(try await anna.segment(of: replica, job: Store.job, from: 1, maximumBytes: .max))
        let late = try #require(try await anna.segment(of: replica, job: Store.job, from: 4, maximumBytes: .max))
        #expect(try await bert.ingest(late, job: Store.job, now: .anyTime).result == .gap(.empty))
        let lie = try place.sign(all, upTo: JournalHead(sequence: all.head.sequence, digest: 1))
        #expect(try await bert.ingest(lie, job: Store.job, now: .anyTime).result == .forked(.empty))
        #expect(try await bert.vectors().isEmpty)
        let first = try await anna.segment(of: replica, job: Store.job, from: 1, maximumBytes: 1)
        #expect(try await bert.ingest(try #require(first), job: Store.job, now: .anyTime).result == .stored)
        #expect(try await bert.ingest(all, job: Store.job, now: .anyTime).result == .stored)
        #expect(try await bert.vector(of: Store.job)[replica] == all.head)
        #expect(try await bert.ingest(all, job: Store.job, now: .anyTime).result == .duplicate(all.head))
        #expect(try await bert.exported() == anna.exported())
    }

    @Test("Malformed bytes are refused and change nothing")
    func malformed() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        let before = try await store.exported()
        let segment = TestAuthor(9).sign(
            JournalSegment(
                replica: TestAuthor(9).replica, first: 1, head: JournalHead(sequence: 1, digest: 0),
                bytes: [3, 1, 2, 3]), of: Store.job)
        await #expect(throws: CodecError.self) { try await store.ingest(segment, job: Store.job, now: .anyTime) }
        #expect(try await store.exported() == before)
        #expect(try await store.vector(of: Store.job).entries.count == 1)
    }

    @Test("Many small segments are joined, and the journal stays what it was")
    func joining() async throws {
        let place = try Place()
        let store = try await place.open()
        for number in 0..<600 { try await store.put(UInt128(number % 7 + 1), "name", "v\(number)") }
        #expect(try await store.segmentCount() < 300)
        let replica = store.identity.replica
        let all = try #require(try await store.segment(of: replica, job: Store.job, from: 1, maximumBytes: .max))
        #expect(try JournalHead.empty.after(all.bytes) == all.head)
        let vector = try await store.vector(of: Store.job)
        #expect(all.head == vector[replica])
    }

    @Test("An item is found by the beginning and by the end of its id, and all that fit are told")
    func abbreviatedIDs() async throws {
        let place = try Place()
        let store = try await place.open()
        let ids = try [
            "0190f5fe-9c41-7a3e-8f10-5b1e0c9d2a01", "0190f5fe-9c41-7b70-9d22-c04a77e92a01",
            "2a010000-0000-8000-8000-000000000007",
        ].map { try #require(ItemID($0)) }
        let edits = ids.map { Edit.put(item: $0, fields: [Edit.FieldValue(field: "name", value: "Box")]) }
        _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 5, edits)
        for (digits, found) in [
            ("0c9d2a01", [ids[0]]), ("0190f5fe9c417b", [ids[1]]), ("0190f5fe", [ids[0], ids[1]]), ("2a01", ids),
            ("92a01", [ids[1]]), ("0007", [ids[2]]), ("ffff", []), ("0000", []),
        ] {
            #expect(try await store.items(job: Store.job, abbreviated: digits, limit: 9) == found, "\(digits)")
        }
        #expect(try await store.items(job: Store.job, abbreviated: "2a01", limit: 2).count == 2)
    }

    @Test("Barcodes are found, and found twice, whether they came singly or in bulk")
    func barcodes() async throws {
        let place = try Place()
        let store = try await place.open()
        let bulk = (1...1_500).map { number in
            Edit.put(
                item: ItemID(UInt128(number)),
                fields: [Edit.FieldValue(field: "barcode", value: "\(1_000_000 + number % 1_490)")])
        }
        _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 5, bulk)
        #expect(try await store.duplicateBarcodes(job: Store.job).count == 10)
        #expect(try await store.items(job: Store.job, withBarcode: "1000001") == [ItemID(1), ItemID(1_491)])
        try await store.put(1, "barcode", "7")
        #expect(try await store.items(job: Store.job, withBarcode: "7") == [ItemID(1)])
        #expect(try await store.items(job: Store.job, withBarcode: "1000001") == [ItemID(1_491)])
        _ = try await store.edit(job: Store.job, nowMilliseconds: 5, [.remove(item: ItemID(1))])
        #expect(try await store.items(job: Store.job, withBarcode: "7").isEmpty)
        #expect(try await store.totals(of: Store.job).duplicateBarcodes == 9)
    }

    @Test("An edit of a removed item is refused with the remedy; the rest of the batch is made")
    func refusals() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        _ = try await store.edit(job: Store.job, nowMilliseconds: 5, [.remove(item: ItemID(1))])
        let fields = [Edit.FieldValue(field: "name", value: "Bed")]
        let result = try await store.edit(
            job: Store.job, nowMilliseconds: 6,
            [.put(item: ItemID(1), fields: fields), .put(item: ItemID(2), fields: fields)])
        #expect(result.refusals == [.removed(ItemID(1)), nil])
        #expect(try await store.item(ItemID(2), job: Store.job)?.value(of: "name") == "Bed")
        #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "name") == "Sofa")
    }

    @Test("Who reads an export for too long is told so, and the log of writes can be emptied again")
    func slowReader() async throws {
        let place = try Place()
        let store = try await place.open()
        for number in 1...300 as ClosedRange<UInt128> { try await store.put(number, "name", "x") }
        var read: ExportCursor<CanonicalExport>? = try store.exportCursor(of: Store.job)
        _ = try await read?.next()
        try await store.put(1, "name", "y")
        #expect(try await !store.truncateLog(), "it is being read")
        let slow = try store.exportCursor(of: Store.job, lifetime: .milliseconds(50))
        read = nil
        while try await !store.truncateLog() { try await Task.sleep(for: .milliseconds(20)) }
        await #expect(throws: StoreError.self) { while try await slow.next() != nil {} }
        let rest = try store.exportCursor(of: Store.job, lifetime: .zero)
        try await Task.sleep(for: .milliseconds(20))
        let error = await #expect(throws: StoreError.self) { while try await rest.next() != nil {} }
        #expect(error?.code == .readTooSlow)
    }

    @Test("A store of a newer program is refused in one sentence and not touched")
    func newerStore() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        try store.close()
        let queue = try DatabaseQueue(path: place.path())
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('999')") }
        try queue.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        let error = await #expect(throws: StoreError.self) { try await place.open() }
        #expect(error?.code == .newerThanProgram)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == before)
    }

    @Test("A file that is no store is refused and not touched")
    func notAStore() async throws {
        let place = try Place()
        let content = Data(String(repeating: "not a database ", count: 500).utf8)
        try content.write(to: URL(fileURLWithPath: place.path()))
        let error = await #expect(throws: StoreError.self) { try await place.open() }
        #expect(error?.code == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == content)
    }

    @Test("The vectors of all jobs are those of each job")
    func vectors() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        let jobs = [JobID("smith")!, JobID("jones")!, JobID("Smith")!]
        for (index, job) in jobs.enumerated() {
            for (store, count) in [(anna, index), (bert, 2 * index + 1)] {
                for item in 0..<count {
                    let edit = Edit.put(
                        item: ItemID(UInt128(item)), fields: [Edit.FieldValue(field: "name", value: "Sofa")])
                    _ = try await store.edit(job: job, createsJob: true, nowMilliseconds: 1_000, [edit])
                }
            }
            guard index > 0 else { continue }
            let journal = try await anna.segment(
                of: anna.identity.replica, job: job, from: 1, maximumBytes: .max)
            _ = try await bert.ingest(try #require(journal), job: job, now: .anyTime)
        }
        let all = try await bert.vectors()
        #expect(all.map(\.job) == jobs.sorted())
        for (job, vector) in all { #expect(try await bert.vector(of: job) == vector) }
        #expect(all.map(\.vector.entries.count).sorted() == [1, 2, 2])
    }

    @Test("What comes to a store that has been closed is refused")
    func closed() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        try store.close()
        // Whoever tidies up does not know yet that the daemon stops.
        await #expect(throws: StoreError.self) { try await store.checkpoint() }
        await #expect(throws: StoreError.self) { try await store.put(2, "name", "Lamp") }
        await #expect(throws: StoreError.self) { try await store.vectors() }
    }
}
