import CRDT
import Foundation
import GRDB
import Inventory
import Simulation
import Synchronization
import Testing

@testable import Storage

@Suite("Stores of older programs", .timeLimit(.minutes(5)))
struct UpgradeTests {
    private static let schema = Schema(for: .laptop)

    /// Every layout before this one.
    static let layouts = Array(schema.names.dropLast())

    @Test("A store of each older layout is copied, upgraded, and shows what it showed", arguments: layouts)
    func upgraded(layout: String) async throws {
        let place = try Place()
        let before = try await OlderStore.make(in: place, layout: layout)
        let steps = UpgradeSteps()
        let store = try await place.open("a", upgrade: steps.upgrade(to: "2.0.0"))
        #expect(!store.wasCopied, "it is the same store, in the same place")
        #expect(try await store.exported() == before)
        #expect(try await store.integrityProblems().isEmpty)
        let missing = Self.schema.names.count - (Self.schema.names.firstIndex(of: layout) ?? 0) - 1
        #expect(steps.all.first == .snapshot(percent: 0) && steps.all.contains(.snapshot(percent: 100)))
        #expect(steps.all.last == .migration(missing, of: missing))
        try await store.put(9, "name", "after")
        try store.close()
        // The copy is the older store, whole, and nobody else's to read.
        let copy = try OlderStore.look(at: "\(place.path())-before-2.0.0")
        #expect(copy.applied == Set(Self.schema.upTo(layout).names))
        #expect(copy.problems == ["ok"])
        #expect(copy.mode == 0o600)
        #expect(try OlderStore.look(at: place.path()).applied == Set(Self.schema.names))
        #expect(try place.names().filter { $0.contains("-before-") } == ["a.sqlite-before-2.0.0"])
    }

    @Test("What is upgraded has the tables of what is new")
    func sameTables() async throws {
        let place = try Place()
        for layout in Self.layouts {
            _ = try await OlderStore.make(in: place, layout: layout, name: layout)
            try await place.open(layout).close()
        }
        try await place.open("new").close()
        let new = try OlderStore.look(at: place.path("new")).columns
        for layout in Self.layouts { #expect(try OlderStore.look(at: place.path(layout)).columns == new, "\(layout)") }
    }

    @Test("Where there is nothing to do nothing is copied, nor told")
    func nothingToDo() async throws {
        let place = try Place()
        let steps = UpgradeSteps()
        try await place.open("a", upgrade: steps.upgrade(to: "2.0.0")).close()
        #expect(steps.all == [], "a new store is no upgrade")
        let again = UpgradeSteps()
        try await place.open("a", upgrade: again.upgrade(to: "3.0.0")).close()
        #expect(again.all == [])
        #expect(try place.names().filter { $0.contains("-before-") } == [])
        #expect(try OlderStore.look(at: place.path()).program == ProgramTable.Entry(version: "2.0.0", former: nil))
    }

    @Test("Only the newest copy is kept, and of what was half written nothing")
    func newestCopy() async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "heard 1")
        for rest in ["before-1.5.0", "before-1.5.0.part", "before-2.0.0.part", "before-2.0.0.part-wal"] {
            try Data("old".utf8).write(to: URL(fileURLWithPath: "\(place.path())-\(rest)"))
        }
        try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).close()
        #expect(try place.names().filter { $0.contains("-before-") } == ["a.sqlite-before-2.0.0"])
        #expect(try OlderStore.look(at: "\(place.path())-before-2.0.0").problems == ["ok"])
    }

    @Test("A migration that fails leaves the store as it was, whichever it is")
    func failedMigration() async throws {
        let place = try Place()
        let before = try await OlderStore.make(in: place, layout: "opening 1")
        let applied = try OlderStore.look(at: place.path()).applied
        // A later one finds a table there already.
        try OlderStore.change(place.path(), "CREATE TABLE formerItem (other)")
        let error = await #expect(throws: StoreError.self) {
            try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0"))
        }
        #expect(error?.code == .other)
        #expect(try OlderStore.look(at: place.path()).applied == applied, "all or nothing")
        try OlderStore.change(place.path(), "DROP TABLE formerItem")
        #expect(try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0")).exported() == before)
    }

    @Test(
        "A store that knows more than the program is refused with both versions and the remedy",
        arguments: [true, false])
    func downgrade(hasCopy: Bool) async throws {
        let place = try Place()
        _ = try await OlderStore.make(in: place, layout: "former items 1")
        try await place.open("a", upgrade: StoreUpgrade(program: "9.1.0")).close()
        if !hasCopy { try FileManager.default.removeItem(atPath: "\(place.path())-before-9.1.0") }
        try OlderStore.change(place.path(), "INSERT INTO grdb_migrations VALUES ('of next year 1')")
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        let error = await #expect(throws: StoreError.self) {
            try await place.open("a", upgrade: StoreUpgrade(program: "2.0.0"))
        }
        #expect(error?.code == .newerThanProgram)
        let said = error?.description ?? ""
        #expect(
            said.contains("Muster 9.1.0") && said.contains("this is 2.0.0") && said.contains("install that version"))
        #expect(said.contains("muster store rollback") == hasCopy)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == before)
    }
}

/// What was told of an upgrade.
final class UpgradeSteps: Sendable {
    private let told = Mutex<[StoreUpgrade.Step]>([])

    var all: [StoreUpgrade.Step] { told.withLock { $0 } }

    func upgrade(to program: String) -> StoreUpgrade {
        StoreUpgrade(program: program) { step in self.told.withLock { $0.append(step) } }
    }
}

extension Place {
    /// What lies in the directory.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
}
