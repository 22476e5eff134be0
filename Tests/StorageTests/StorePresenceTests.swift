import CRDT
import Foundation
import GRDB
import Inventory
import Simulation
import Testing

@testable import Storage

@Suite("What lies where a store is to be", .timeLimit(.minutes(2)))
struct StorePresenceTests {
    private func refusal(_ place: Place, role: StoreRole = .laptop) -> StoreError? {
        do {
            try Store.open(
                path: place.path(), machine: "laptop", hostName: "anna", role: role,
                upgrade: StoreUpgrade(program: "1.0.0"), generator: &place.generator
            ).close()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Where a store was no new one is begun, and what is left of it is not touched",
        arguments: [true, false], [true, false])
    func lost(isEmptied: Bool, isKilled: Bool) async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        if isKilled {
            // As `kill -9` leaves it: what was acknowledged stands in the log.
            try place.copy("a", to: "b")
            try store.close()
            try place.overwrite("a", with: "b")
        } else {
            try store.close()
            // As after an orderly stop: all of it stands in the file.
            try OlderStore.change(place.path(), "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let (log, witness) = (place.path() + "-wal", place.path() + "-opened")
        let left = try Data(contentsOf: URL(fileURLWithPath: isKilled ? log : witness))
        #expect(!left.isEmpty)
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        if isEmptied {
            try Data().write(to: URL(fileURLWithPath: place.path()))
        } else {
            try FileManager.default.removeItem(atPath: place.path())
        }
        let said = try #require(refusal(place))
        #expect(said.code == .damaged && said.cause == nil)
        #expect(said.description.hasPrefix("The store \(place.path()) is \(isEmptied ? "empty" : "gone"), and "))
        #expect(said.description.contains(witness) && said.description.contains(log) == isKilled)
        #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "1.0.0") }
        #expect(throws: StoreError.self) { try Store.check(path: place.path(), role: .laptop, program: "1.0.0") }
        if isEmptied {
            #expect(throws: StoreError.self) { try Store.backUp(from: place.path(), to: place.path("copy")) }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: isKilled ? log : witness)) == left)
        // The remedies: the file comes back, and all is there; or what is left goes, too, and a new store begins.
        try whole.write(to: URL(fileURLWithPath: place.path()))
        let again = try await place.open()
        #expect(try await again.item(ItemID(1), job: Store.job)?.value(of: "name") == "Sofa")
        try again.close()
        for suffix in ["", "-wal", "-shm", "-opened"] {
            try? FileManager.default.removeItem(atPath: place.path() + suffix)
        }
        #expect(refusal(place) == nil)
    }

    @Test("Where a link leads to the store, the log lies beside what it leads to", arguments: [true, false])
    func link(isEmptied: Bool) async throws {
        let place = try Place()
        try FileManager.default.createSymbolicLink(atPath: place.path(), withDestinationPath: "b.sqlite")
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        let log = place.path("b") + "-wal"
        let left = try Data(contentsOf: URL(fileURLWithPath: log))
        #expect(!left.isEmpty)
        try store.close()
        // As after `kill -9`, and without the witness, which a server's store has not.
        try left.write(to: URL(fileURLWithPath: log))
        try FileManager.default.removeItem(atPath: place.path() + "-opened")
        if isEmptied {
            try Data().write(to: URL(fileURLWithPath: place.path("b")))
        } else {
            try FileManager.default.removeItem(atPath: place.path("b"))
        }
        let said = try #require(refusal(place))
        #expect(said.code == .damaged && said.description.contains(log), "\(said)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == left)
    }

    @Test("A server's store has no witness, and its log is as dear")
    func server() throws {
        let place = try Place()
        try Data("frames".utf8).write(to: URL(fileURLWithPath: place.path() + "-wal"))
        #expect(refusal(place, role: .channel)?.code == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path() + "-wal")) == Data("frames".utf8))
    }

    @Test("A first start that died is begun anew, wherever that was")
    func firstStart() async throws {
        let place = try Place()
        // The file is made, and SQLite has not written to it; an empty log lies beside it, as after an orderly stop.
        for suffix in ["", "-wal"] { try Data().write(to: URL(fileURLWithPath: place.path() + suffix)) }
        #expect(refusal(place) == nil)
        // Before SQLite makes a log it has written a page into the file, and flushed it.
        let queue = try DatabaseQueue(path: place.path("first"))
        defer { try? queue.close() }
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path("first"))).count >= 4_096)
        #expect(try place.names().filter { $0.hasPrefix("first") } == ["first.sqlite"])
    }

    @Test(
        "Another program's database is not written to",
        arguments: [
            "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)",
            "CREATE TABLE store (id INTEGER, shop TEXT); CREATE TABLE job (id INTEGER PRIMARY KEY)",
            "CREATE TABLE grdb_migrations (identifier TEXT PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('v1')",
            "CREATE TABLE grdb_migrations (name TEXT); CREATE VIEW store AS SELECT 1 AS device, 2 AS replica, 3 AS place",
            "CREATE VIEW store AS SELECT 1",
        ])
    func foreign(sql: String) throws {
        let place = try Place()
        try OlderStore.change(place.path(), sql)
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        for role in [StoreRole.laptop, .channel] {
            let said = try #require(refusal(place, role: role))
            #expect(said.code == .damaged && said.cause == nil, "\(said)")
            #expect(said.description.hasPrefix("\(place.path()) is another program's database"))
        }
        let said = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "1.0.0") }
        #expect(said?.description.hasPrefix("\(place.path()) is another program's database") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == before)
    }

    @Test("A directory in a store's place is refused for good")
    func directory() throws {
        let place = try Place()
        try FileManager.default.createDirectory(atPath: place.path(), withIntermediateDirectories: false)
        let said = try #require(refusal(place))
        #expect(said.code == .damaged && said.description.contains("is no file"))
    }

    @Test("A version that no line may show is none", arguments: ["9\u{1B}[31m", "9\n9", "", "../9", "9 9", "ü"])
    func version(text: String) async throws {
        let place = try Place()
        try await place.open("a", upgrade: StoreUpgrade(program: "9.1.0")).close()
        try OlderStore.change(
            place.path(),
            """
            INSERT INTO grdb_migrations VALUES ('of next year 1');
            UPDATE program SET version = '\(text)', former = '\(text)'
            """)
        let said = try #require(refusal(place))
        #expect(said.code == .newerThanProgram)
        #expect(
            said.description.hasPrefix(
                "The store was upgraded by a newer version of Muster that it does not name, and this is 1.0.0"))
        try OlderStore.change(place.path(), "UPDATE program SET version = '9.1.0'")
        #expect(try OlderStore.look(at: place.path()).program == ProgramTable.Entry(version: "9.1.0", former: ""))
    }
}
