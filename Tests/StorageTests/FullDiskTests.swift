import CRDT
import GRDB
import Inventory
import Simulation
import Testing

@testable import Storage

@Suite("A full disk", .timeLimit(.minutes(2)))
struct FullDiskTests {
    @Test("What is acknowledged is there and what is refused is not, also when they share a transaction")
    func sharedTransactions() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "before")
        try await store.limit(toFurtherPages: 12)
        let huge = String(repeating: "x", count: 60_000)
        let outcomes = await withTaskGroup(of: (UInt128, Bool).self) { group in
            for item in 2...61 as ClosedRange<UInt128> {
                group.addTask {
                    do {
                        try await store.put(item, "name", item % 4 == 0 ? huge : "small")
                        return (item, true)
                    } catch {
                        #expect((error as? StoreError)?.code == .diskFull, "\(error)")
                        return (item, false)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.values.contains(false), "the disk was full")
        try store.close()
        let again = try await place.open()
        for (item, isAcknowledged) in outcomes.sorted(by: { $0.key < $1.key }) {
            let state = try await again.item(ItemID(item), job: Store.job)
            #expect((state != nil) == isAcknowledged, "item \(item)")
        }
        #expect(try await again.integrityProblems().isEmpty)
    }

    @Test("No room for the file that the log's readers share is a full disk, and another error of the disk is none")
    func sharedMemory() {
        #expect(StoreError(DatabaseError(resultCode: .SQLITE_IOERR_SHMSIZE)).code == .diskFull)
        #expect(StoreError(DatabaseError(resultCode: .SQLITE_IOERR_READ)).code == .other)
    }

    @Test("A piece of journal that leads nowhere leaves no empty job behind")
    func noEmptyJobs() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        let sound = try await anna.put(1, "name", "Sofa").segment
        let false_ = try place.sign(sound, upTo: JournalHead(sequence: sound.head.sequence, digest: 1))
        #expect(try await bert.ingest(false_, job: Store.job, now: .anyTime).result == .forked(.empty))
        #expect(try await bert.vectors().isEmpty)
        _ = try await anna.send(to: bert)
        #expect(try await bert.exported() == anna.exported())
    }
}

extension Store {
    /// Lets the file grow by so many pages and no further, as a full disk would.
    func limit(toFurtherPages count: Int) async throws {
        try await database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + count)")
        }
    }
}
