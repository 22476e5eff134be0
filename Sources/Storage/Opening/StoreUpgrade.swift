import GRDB
import GRDBSQLite

/// How a program brings the tables of an older one up to date: in one transaction, before whose first change the store is copied.
///
/// So there are two states of a store and no third, whenever the program is killed: as it was, or as it shall be.
package struct StoreUpgrade {
    /// How far it is.
    package enum Step: Hashable, Sendable, CustomStringConvertible {
        /// The store is being copied.
        case snapshot(percent: Int)
        /// A migration runs, the first one being number 1; told again and again while it does.
        case migration(Int, of: Int)

        /// One line for people.
        package var description: String {
            switch self {
            case .snapshot(let percent): "Upgrading the store: snapshot \(percent) %"
            case .migration(let number, let count): "Upgrading the store: step \(number) of \(count)"
            }
        }
    }

    /// The version of the program that opens the store.
    let program: String
    /// The layout that it wants; nil for the newest.
    var schema: Schema?
    let tell: (Step) -> Void
    /// What is a copy already needs no other.
    private let copiesStore: Bool

    /// - Parameters:
    ///   - program: the version of the program that opens the store; it stays in the store.
    ///   - tell: called on the opening thread while an older store is upgraded, and else not at all.
    package init(program: String, tell: @escaping (Step) -> Void = { _ in }) {
        self.program = program
        self.tell = tell
        copiesStore = true
    }

    /// - Parameter program: the version of the program that opens a copy of a store.
    init(ofCopyBy program: String) {
        self.program = program
        tell = { _ in }
        copiesStore = false
    }

    /// - Parameter path: where the store lies, for the copy; nil for a store in memory.
    func run(on database: any DatabaseWriter, role: StoreRole, path: String?) throws {
        let schema = schema ?? Schema(for: role)
        try database.writeWithoutTransaction { db in
            guard try !schema.pending(in: db).isEmpty else { return }
            let snapshot = (copiesStore ? path : nil).map { StoreSnapshot(ofStoreAt: $0, before: program) }
            do {
                try db.inTransaction(.immediate) {
                    // From here on no other process writes; one may just have done the same.
                    let pending = try schema.pending(in: db)
                    // A new store has nothing that a copy could keep.
                    let isNew = try Schema.applied(in: db).isEmpty
                    if !pending.isEmpty, !isNew {
                        // What a reader sees is what was there before.
                        try snapshot?.take(from: database) { tell(.snapshot(percent: $0)) }
                    }
                    try migrate(pending, isNew: isNew, in: db)
                    return .commit
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                // Nothing has changed, and the room is somebody's.
                snapshot?.remove()
                throw error
            }
            snapshot?.removeOthers()
        }
    }

    private func migrate(_ pending: [Schema.Migration], isNew: Bool, in db: Database) throws {
        guard !pending.isEmpty else { return }
        let former = isNew ? nil : try ProgramTable.entry(in: db)?.version ?? ""
        // Tables without rows are made at once.
        let tell = isNew ? { _ in } : tell
        for (index, migration) in pending.enumerated() {
            let step = Step.migration(index + 1, of: pending.count)
            tell(step)
            try Pulse.during(db, beat: { tell(step) }) { try Schema.run(migration, in: db) }
        }
        try ProgramTable.note(ProgramTable.Entry(version: program, former: former), in: db)
    }
}

/// Calls back while a statement runs that takes long: SQLite counts its instructions (sqlite3_progress_handler).
private final class Pulse {
    /// Some tens of milliseconds.
    private static let instructions: CInt = 1_000_000
    private let beat: () -> Void

    private init(_ beat: @escaping () -> Void) {
        self.beat = beat
    }

    static func during(_ db: Database, beat: () -> Void, _ body: () throws -> Void) rethrows {
        try withoutActuallyEscaping(beat) { beat in
            let pulse = Pulse(beat)
            sqlite3_progress_handler(
                db.sqliteConnection, instructions,
                { context in
                    if let context { Unmanaged<Pulse>.fromOpaque(context).takeUnretainedValue().beat() }
                    return 0
                }, Unmanaged.passUnretained(pulse).toOpaque())
            defer { withExtendedLifetime(pulse) { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) } }
            try body()
        }
    }
}
