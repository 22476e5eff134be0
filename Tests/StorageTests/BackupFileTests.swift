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
        let cuts =
            stride(from: 0, to: whole.count, by: 4_096).map { whole.prefix($0) } + [whole.prefix(whole.count - 1)]
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
