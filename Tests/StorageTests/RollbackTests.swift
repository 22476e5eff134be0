import CRDT
import Foundation
import GRDB
import Inventory
import Replication
import Simulation
import Testing

@testable import Storage

@Suite("The store of before an upgrade, put back", .timeLimit(.minutes(2)))
struct RollbackTests {
    @Test("It is told what was written since, it is a new replica, and others bring back what they hold")
    func putBack() async throws {
        let place = try Place()
        let before = try await OlderStore.make(in: place, layout: "former items 1")
        let upgraded = try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0"))
        let identity = upgraded.identity
        for item in 100...104 as ClosedRange<UInt128> {
            try await upgraded.put(item, "name", "since \(item)", now: 3_000)
        }
        let bert = try await place.open("b")
        _ = try await upgraded.send(to: bert)
        try await bert.put(200, "name", "of bert", now: 3_500)
        _ = try await bert.send(to: upgraded)
        try await upgraded.put(105, "name", "only here", now: 4_000)
        let newest = try await upgraded.exported()
        try upgraded.close()

        let rollback = try StoreRollback(ofStoreAt: place.path(), program: "1.0.0")
        #expect(rollback.version == "2.0.0" && rollback.former == "" && rollback.upgradesAgain)
        let loss = try #require(try rollback.losses.get().first)
        #expect(try rollback.losses.get().count == 1)
        #expect(loss.job == Store.job)
        // Bert's first change in a job says who bert is.
        #expect(loss.own == 6 && loss.received == 2 && !loss.isRemoved)
        let kept = try rollback.perform()
        #expect(kept == "\(place.path())-after-2.0.0")
        #expect(try place.names().filter { $0.hasPrefix("a.sqlite-before") } == [])

        // As the older program finds it, which knows the layout up to there.
        var older = StoreUpgrade(program: "1.0.0")
        older.schema = Schema(for: .laptop).upTo("former items 1")
        let restored = try await place.open("a", upgrade: older)
        #expect(restored.wasCopied && restored.identity.device == identity.device)
        #expect(restored.identity.replica != identity.replica, "no sequence is given twice (rule R9)")
        #expect(try await restored.exported() == before)
        try await restored.put(300, "name", "after the rollback", now: 5_000)
        _ = try await bert.send(to: restored)
        _ = try await restored.send(to: bert)
        #expect(try await restored.item(ItemID(104), job: Store.job)?.value(of: "name") == "since 104")
        #expect(try await restored.item(ItemID(200), job: Store.job)?.value(of: "name") == "of bert")
        #expect(try await restored.item(ItemID(105), job: Store.job) == nil, "nobody else has it")
        let held = try await bert.exported()
        #expect(try await restored.exported() == held)
        try restored.close()
        // Nothing has vanished: the newer store is whole where it was said to be.
        try FileManager.default.copyItem(atPath: kept, toPath: place.path("kept"))
        #expect(try await place.open("kept").exported() == newest)
    }

    @Test("A change that another laptop is known to hold is told apart from those that nobody has")
    func heldElsewhere() async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1")
        let store = try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0"))
        try await store.put(100, "name", "held", now: 3_000)
        let held = try await store.vector(of: Store.job)[store.identity.replica].sequence
        for item in 101...103 as ClosedRange<UInt128> { try await store.put(item, "name", "not held", now: 3_001) }
        try store.close()
        try OlderStore.change(
            place.path(),
            """
            INSERT INTO known SELECT job, 'bert', replica, \(held) FROM journal
            WHERE replica = (SELECT replica FROM journal ORDER BY sequence DESC LIMIT 1)
            """)
        let loss = try #require(try StoreRollback(ofStoreAt: place.path(), program: "1.0.0").losses.get().first)
        #expect(loss.own == 4 && loss.unheld == 3)
    }

    @Test("Without a copy, or with one that is damaged, nothing is changed")
    func refused() async throws {
        let place = try Place()
        try await place.open("new", upgrade: StoreUpgrade(program: "2.0.0")).close()
        // Of whatever store it is, not of this one.
        try FileManager.default.copyItem(atPath: place.path("new"), toPath: place.path("new") + "-before-2.0.0")
        let never = #expect(throws: StoreError.self) {
            try StoreRollback(ofStoreAt: place.path("new"), program: "2.0.0")
        }
        #expect(never?.code == .noSnapshot && never?.description.contains("never upgraded") == true)
        _ = try await OlderStore.make(in: place, layout: "totals 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        let copy = "\(place.path())-before-2.0.0"
        let whole = try Data(contentsOf: URL(fileURLWithPath: copy))
        // The page that the items hang on is gone; the rest of the file is as it was.
        let page = try OlderStore.rootPage(of: "item", in: copy)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: copy))
        try file.seek(toOffset: UInt64(page - 1) * 4_096)
        try file.write(contentsOf: Data(count: 4_096))
        try file.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) != whole)
        let damaged = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "2.0.0") }
        #expect(damaged?.description.contains("The copy of before the upgrade, \(copy), is damaged") == true)
        try FileManager.default.moveItem(atPath: copy, toPath: copy + ".part")
        let half = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "2.0.0") }
        #expect(half?.code == .noSnapshot && half?.description.contains(copy) == true)
        try FileManager.default.createSymbolicLink(atPath: copy, withDestinationPath: copy + ".part")
        let link = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "2.0.0") }
        #expect(link?.code == .noSnapshot)
        try FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: place.path("new"), toPath: copy)
        try OlderStore.change(copy, "UPDATE store SET device = '\(String(repeating: "7", count: 64))'")
        let foreign = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "2.0.0") }
        #expect(foreign?.code == .damaged && foreign?.description.contains("another laptop's") == true)
        #expect(try OlderStore.look(at: place.path()).applied == Set(Schema(for: .laptop).names))
    }

    @Test(
        "A copy that is damaged is called so, and the store is not",
        arguments: ["cut", "half a page", "the end of a row", "text", "a header", "an index"])
    func damagedCopy(damage: String) async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        let copy = "\(place.path())-before-2.0.0"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        switch damage {
        case "cut": bytes.removeLast(4 * 4_096)
        case "half a page": bytes.removeLast(2_000)
        case "the end of a row":
            // SQLite reads zeros there, and finds nothing wrong with them.
            try OlderStore.change(copy, "CREATE TABLE filler (x); INSERT INTO filler VALUES (randomblob(30000))")
            bytes = try Data(contentsOf: URL(fileURLWithPath: copy)).dropLast(4_000)
        case "text": bytes = Data(String(repeating: "Dear customer\n", count: 500).utf8)
        case "a header": bytes = bytes.prefix(100)
        default:
            // An entry of the index by which segments are found says something else; the tables are whole.
            let page = try OlderStore.rootPage(of: "sqlite_autoindex_segment_1", in: copy)
            let last = page * 4_096 - 12
            bytes[last] ^= 1
        }
        try bytes.write(to: URL(fileURLWithPath: copy))
        let error = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "2.0.0") }
        #expect(
            error?.code == .damaged
                && error?.explanation.hasPrefix("The copy of before the upgrade, \(copy), is damaged") == true,
            "\(error as Any)")
        try await place.open("a").close()
    }

    /// What is said to who goes back while somebody reads.
    private func refusal(of rollback: StoreRollback, whileReading path: String) throws -> StoreError? {
        let reader = try DatabaseQueue(path: path)
        defer { try? reader.close() }
        return try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM segment")
            do {
                _ = try rollback.perform()
                return nil
            } catch {
                return error as? StoreError
            }
        }
    }

    @Test(
        "While somebody reads the store it stays where it is, with its log, also where a link leads to it",
        arguments: [false, true])
    func read(byLink: Bool) async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1", name: byLink ? "b" : "a")
        if byLink { try FileManager.default.createSymbolicLink(atPath: place.path(), withDestinationPath: "b.sqlite") }
        let store = try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0"))
        try await store.put(100, "name", "since")
        let export = try await store.exported()
        let rollback = try StoreRollback(ofStoreAt: place.path(), program: "2.0.0")
        #expect(try refusal(of: rollback, whileReading: place.path())?.code == .busy)
        #expect(try await store.exported() == export)
        try store.close()
        _ = try rollback.perform()
        #expect(try await place.open().item(ItemID(100), job: Store.job) == nil)
    }

    @Test("A directory that takes no second name is told by its cause")
    func refusedNames() {
        let codes =
            [(ENOSPC, .diskFull), (EDQUOT, .diskFull), (EACCES, .readOnly), (EROFS, .readOnly), (EIO, .other)]
            as [(Int32, StoreError.Code)]
        for (number, code) in codes {
            let error = StoreError(
                POSIXError(POSIXErrorCode(rawValue: number) ?? .ENODEV), "The store cannot be put back")
            #expect(error.code == code && error.cause == String(cString: strerror(number)))
        }
    }

    @Test("A copy that this program cannot read is left where it is")
    func newerCopy() async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        try OlderStore.change(
            "\(place.path())-before-2.0.0", "INSERT INTO grdb_migrations VALUES ('of next year 1')")
        let error = #expect(throws: StoreError.self) { try StoreRollback(ofStoreAt: place.path(), program: "1.0.0") }
        #expect(error?.code == .newerThanProgram)
    }

    @Test("Whoever was interrupted does it again, and no kept store is written over")
    func interrupted() async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "totals 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        let kept = "\(place.path())-after-2.0.0"
        // The store has its second name, and the copy is not yet in its place.
        try FileManager.default.linkItem(atPath: place.path(), toPath: kept)
        #expect(try StoreRollback(ofStoreAt: place.path(), program: "2.0.0").perform() == kept)
        #expect(try OlderStore.look(at: kept).applied == Set(Schema(for: .laptop).names))
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        #expect(try StoreRollback(ofStoreAt: place.path(), program: "2.0.0").perform() == kept + "-2")
    }

    @Test("A layout that this program does not know is put aside all the same")
    func unknownLayout() async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "9.0.0")).close()
        try OlderStore.change(
            place.path(), "INSERT INTO grdb_migrations VALUES ('of next year 1'); ALTER TABLE job RENAME TO work")
        let rollback = try StoreRollback(ofStoreAt: place.path(), program: "2.0.0")
        #expect(throws: StoreError.self) { try rollback.losses.get() }
        #expect(rollback.version == "9.0.0")
        _ = try rollback.perform()
        try await place.open("a").close()
    }
}
