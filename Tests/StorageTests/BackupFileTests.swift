import Authorship
import CRDT
import Foundation
import GRDB
import Inventory
import Simulation
import Testing

@testable import Storage

@Suite("Backups", .timeLimit(.minutes(2)))
struct BackupFileTests {
    @Test("A copy that is made while somebody writes is one state, which opens as another replica")
    func copied() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "before")
        let writing = Task {
            for item in 2...200 as ClosedRange<UInt128> { try await store.put(item, "name", "during") }
        }
        try await store.backUp(to: place.path("copy"))
        try await writing.value
        let file = try await BackupFile.checked(at: place.path("copy"))
        #expect(file.device == store.identity.device)
        #expect(file.author?.replica == store.identity.replica)
        let signer = TestSigner(named: "another")
        var generator = place.generator
        let copy = try await Store.openBackup(
            at: place.path("copy"), program: "1.0.0", hostName: "bert", signer: signer, using: &generator)
        #expect(copy.identity.replica != store.identity.replica, "rule R9")
        let held = try await copy.vector(of: Store.job)[store.identity.replica].sequence
        #expect(held >= 1)
        #expect(held <= (try await store.vector(of: Store.job)[store.identity.replica].sequence))
        try copy.close()
        let mode = try FileManager.default.attributesOfItem(atPath: place.path("copy"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A file that lost its end, or some of its bytes, is refused or whole, and never read in part")
    func damaged() async throws {
        let place = try Place()
        let store = try await place.open()
        for item in 1...60 as ClosedRange<UInt128> {
            try await store.put(item, "name", String(repeating: "x", count: 400))
        }
        try await store.backUp(to: place.path("copy"))
        let whole = try Data(contentsOf: URL(filePath: place.path("copy")))
        var refused = 0
        // SQLite reads the rest of a page that is cut as zeros.
        let inLastPage = [4_095, 2_000, 100, 1].map { whole.prefix(whole.count - $0) }
        let cuts = stride(from: 0, to: whole.count, by: 4_096).map { whole.prefix($0) } + inLastPage
        let holes = stride(from: 4_096, to: whole.count - 4_096, by: 4_096).map { start in
            var bytes = whole
            bytes.replaceSubrange(start..<start + 4_096, with: Data(count: 4_096))
            return bytes
        }
        for bytes in cuts + holes where bytes != whole {
            let path = place.path("damaged")
            try Data(bytes).write(to: URL(filePath: path))
            do {
                _ = try await BackupFile.checked(at: path)
                // A page that nobody uses.
                let queue = try DatabaseQueue(path: path)
                let readable = try await queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM segment") }
                try queue.close()
                #expect(readable ?? 0 > 0)
            } catch let error as StoreError {
                #expect(error.isOfBackup, "\(error.debugDescription)")
                refused += 1
            }
        }
        #expect(refused > cuts.count, "the cut ones and some with holes")
        for cut in cuts {
            try Data(cut).write(to: URL(filePath: place.path("cut")))
            await #expect(throws: StoreError.self, "\(cut.count) bytes") {
                try await BackupFile.checked(at: place.path("cut"))
            }
        }
    }

    @Test("A file whose tables do not agree has lost something, and is refused")
    func disagreeing() async throws {
        let place = try Place()
        let store = try await place.open()
        for item in 1...3 as ClosedRange<UInt128> { try await store.put(item, "name", "sofa \(item)") }
        let over = JobID(ItemID(78))
        let edit = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Bed")])
        _ = try await store.edit(job: over, createsJob: true, nowMilliseconds: 2_000, [edit])
        _ = try await store.removeJob(over, now: .known(3_000))
        try await store.backUp(to: place.path("sound"))
        _ = try await BackupFile.checked(at: place.path("sound"))
        let last = "job = 1 AND last = (SELECT max(last) FROM segment WHERE job = 1)"
        for sql in [
            "DELETE FROM journal", "DELETE FROM journal WHERE job = 1", "UPDATE journal SET job = 99 WHERE job = 1",
            "UPDATE journal SET sequence = 0 WHERE job = 1", "UPDATE journal SET sequence = sequence - 1 WHERE job = 1",
            "UPDATE journal SET sequence = sequence + 1 WHERE job = 1",
            "UPDATE journal SET sequence = \(Int64.max) WHERE job = 1",
            "UPDATE journal SET replica = randomblob(16) WHERE job = 1",
            "DELETE FROM segment WHERE \(last)", "INSERT INTO garbage VALUES (1)",
            // They agree, on what cannot be.
            "UPDATE segment SET last = 1 << 41 WHERE \(last); UPDATE journal SET sequence = 1 << 41 WHERE job = 1",
            "DELETE FROM segment WHERE job = 1; DELETE FROM journal WHERE job = 1",
            "UPDATE job SET number = 99 WHERE number = 1", "DELETE FROM job WHERE number = 1",
            "UPDATE job SET isRemoved = 1", "UPDATE job SET isRemoved = 2 WHERE isRemoved",
            "UPDATE job SET isRemoved = 0", "UPDATE job SET id = 'a job' WHERE number = 1",
            "UPDATE job SET name = 'Elm' WHERE number = 1",
            // A living job of which a beginning is said to have gone, as that of one that has ended.
            """
            INSERT INTO removal SELECT job, replica, last, digest FROM segment WHERE job = 1 AND first = 1;
            DELETE FROM segment WHERE job = 1 AND first = 1
            """,
            "UPDATE removal SET sequence = 1 << 41; UPDATE journal SET sequence = 1 << 41 WHERE job <> 1",
            // A hole, at the beginning and in the midst, and two rows of one place.
            "DELETE FROM segment WHERE job = 1 AND first = 1",
            "DELETE FROM segment WHERE job = 1 AND last = (SELECT first FROM segment WHERE \(last)) - 1",
            "UPDATE segment SET first = first - 1 WHERE \(last)",
            // What no program would read again.
            "INSERT INTO cutoff VALUES ('\(Store.job.text)', '\(store.identity.device)', x'00ff')",
            "INSERT INTO assignment VALUES (x'01', '\(Store.job.text)', x'07', zeroblob(64), x'')",
        ] {
            try? FileManager.default.removeItem(atPath: place.path("bad"))
            try FileManager.default.copyItem(atPath: place.path("sound"), toPath: place.path("bad"))
            let queue = try DatabaseQueue(path: place.path("bad"))
            try await queue.write { db in
                let before = db.totalChangesCount
                try db.execute(sql: sql)
                #expect(db.totalChangesCount > before, "\(sql)")
            }
            try queue.close()
            let error = await #expect(throws: StoreError.self, "\(sql)") {
                try await BackupFile.checked(at: place.path("bad"))
            }
            #expect(error?.code == .damaged)
        }
    }

    @Test("Whatever a store has been through, a backup of it is taken")
    func ofAnyHistory() async throws {
        let place = try Place()
        let store = try await place.open("bert")
        func look(_ when: String) async throws {
            let path = place.path("copy of \(when)")
            try await store.backUp(to: path)
            await #expect(throws: Never.self, "\(when)") { _ = try await BackupFile.checked(at: path) }
        }
        try await look("a new store")
        let author = TestAuthor(7)
        let (held, branch) = (try author.run(["a", "b", "c"]), try author.run(["a", "b", "x", "y"]))
        _ = try await store.ingest(held, job: Store.job, now: .anyTime)
        for item in 1...450 as ClosedRange<UInt128> { try await store.put(item, "name", "sofa") }
        try await look("small rows that were joined")
        _ = try await store.adoptBranch(
            try await place.rest(of: branch, from: 3), job: Store.job, after: 2, now: .anyTime,
            using: &place.generator)
        try await look("a fork")
        // Somebody ends it who knew a part, and somebody else who knew more, and another branch.
        let bytes = try author.run(["a", "b"]).bytes
        var heads = VersionVector()
        heads.set(author.replica, to: try .empty.after(bytes))
        for _ in 1...2 {
            _ = try await store.takeRemoval(
                JobRemoval(name: "Elm", heads: heads), of: Store.job, now: .anyTime, using: &place.generator)
            try await look("an end with late work, \(heads.entries.count)")
            #expect(try await store.freeStep())
            try await look("an end of which a part is freed, \(heads.entries.count)")
            heads.set(author.replica, to: JournalHead(sequence: 9, digest: JournalDigest(high: 1, low: 2)))
            heads.set(TestAuthor(8).replica, to: JournalHead(sequence: 4, digest: JournalDigest(high: 3, low: 4)))
        }
        let late = try await store.lateChanges(of: Store.job).map(\.dot)
        #expect(late.count > 450)
        _ = try await store.acceptLate(late, of: Store.job, now: .known(5_000))
        while try await store.freeStep() {}
        try await look("late work that was taken over")
        let nothing = JobRemoval(name: "", heads: VersionVector())
        for id in [79, 80] as [UInt128] {
            let job = JobID(ItemID(id))
            let edit = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Bed")])
            if id == 80 { _ = try await store.edit(job: job, createsJob: true, nowMilliseconds: 6_000, [edit]) }
            _ = try await store.takeRemoval(nothing, of: job, now: .anyTime, using: &place.generator)
            try await look("an end by somebody who knew nothing, \(id)")
        }
    }

    @Test("What is no laptop's store, or would carry something out, is refused in one sentence")
    func strangers() async throws {
        let place = try Place()
        let path = place.path("stranger")
        func refusal(_ sql: String) async throws -> StoreError {
            try? FileManager.default.removeItem(atPath: path)
            let store = try await place.open()
            try await store.put(1, "name", "sofa")
            try await store.backUp(to: path)
            try store.close()
            let queue = try DatabaseQueue(path: path)
            try await queue.write { db in try db.execute(sql: sql) }
            try queue.close()
            return try await #require(throws: StoreError.self) { _ = try await BackupFile.checked(at: path) }
        }
        #expect(try await refusal("DROP TABLE grdb_migrations").code == .damaged)
        #expect(try await refusal("DELETE FROM store").code == .damaged)
        // What no program makes: another table of that name, and places that there are not.
        let loose =
            "DROP TABLE store; CREATE TABLE store (device, replica, place, opening); INSERT INTO store VALUES (NULL, NULL, NULL, NULL)"
        #expect(try await refusal(loose).code == .damaged)
        #expect(try await refusal("UPDATE journal SET sequence = -1").code == .damaged)
        #expect(try await refusal("UPDATE segment SET first = -5").code == .damaged)
        #expect(try await refusal("ALTER TABLE item RENAME TO things").code == .damaged)
        let trigger = "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM segment; END"
        #expect(try await refusal(trigger).code == .damaged)
        #expect(
            try await refusal("INSERT INTO grdb_migrations VALUES ('of the future')").code == .newerThanProgram)
        #expect(
            try await refusal("UPDATE store SET replica = '\(ReplicaID.channel)'").code == .otherRole)
    }

    @Test("A copy that cannot be made leaves none")
    func full() async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "sofa")
        let missing = place.directory + "/missing/copy"
        await #expect(throws: BackupFailure.self) { try await store.backUp(to: missing) }
        try await store.backUp(to: place.path("copy"))
        await #expect(throws: BackupFailure.exists) { try await store.backUp(to: place.path("copy")) }
        #expect(!FileManager.default.fileExists(atPath: place.path("copy") + ".part"))
    }
}
