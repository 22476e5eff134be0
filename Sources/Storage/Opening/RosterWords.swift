import CRDT
import Foundation
import GRDB

/// Who is on which job, and how far the journals of revoked laptops count in it, all of it read as a store reads it.
///
/// One goes nowhere without the other: whoever holds the word of a cutoff says no other, and an older program cannot read that word.
struct RosterWords: Equatable {
    private struct Roster: Hashable {
        /// The public key of its root.
        let fleet: Data
        let job: JobID
    }

    private struct Author: Hashable {
        let job: JobID
        let device: DeviceID
    }

    private static let tables = [
        "assignment": ["fleet", "job", "content", "signature", "certificates"],
        "cutoff": ["job", "device", "heads"],
    ]

    private var statements: [Roster: Set<Assignment>] = [:]
    private var cutoffs: [Author: VersionVector] = [:]

    /// - Throws: `DatabaseError` with `SQLITE_CORRUPT` for a row that no program would read, and for a table that has other columns.
    init(in db: Database) throws {
        for row in try Self.rows(of: "assignment", in: db) {
            let job = try Self.read(JobID(Self.value(row, "job") as String), "the job of an assignment")
            let blob: Data = try Self.value(row, "certificates")
            let certificates = AuthorTable.certificates(in: blob)
            guard AuthorTable.blob(of: certificates) == blob else { throw Self.unreadable("a certificate") }
            let statement = try Self.read(
                try? Assignment(
                    content: [UInt8](Self.value(row, "content") as Data),
                    signature: [UInt8](Self.value(row, "signature") as Data), certificates: certificates),
                "an assignment")
            guard statement.job == job else { throw Self.unreadable("an assignment") }
            statements[Roster(fleet: try Self.value(row, "fleet"), job: job), default: []].insert(statement)
        }
        for row in try Self.rows(of: "cutoff", in: db) {
            let author = Author(
                job: try Self.read(JobID(Self.value(row, "job") as String), "the job of a cutoff"),
                device: try Self.read(DeviceID(Self.value(row, "device") as String), "the laptop of a cutoff"))
            let heads: Data = try Self.value(row, "heads")
            cutoffs[author] = try Self.read(try? VersionVector(encoded: [UInt8](heads)), "a cutoff")
        }
    }

    /// As far as a store keeps them (`Store.keepAssignments`), with what was said since: a row that is gone there was read over, and none that
    /// was replaced comes back.
    func joined(with newer: RosterWords) -> RosterWords {
        var joined = self
        for (roster, said) in newer.statements where said != statements[roster] {
            var standing = JobRoster()
            for statement in Self.sorted(statements[roster] ?? []) + Self.sorted(said) {
                _ = standing.apply(statement)
            }
            joined.statements[roster] = Set(standing.statements)
            for (device, cutoff) in standing.cutoffs {
                joined.cutoffs[Author(job: roster.job, device: device)] = cutoff.heads
            }
        }
        joined.cutoffs.merge(newer.cutoffs) { $1 }
        return joined
    }

    /// What is not as in another store.
    func subjects(unlike other: RosterWords) -> Set<RollbackWords.Subject> {
        Set(
            (statements == other.statements ? [] : [.assignments])
                + (cutoffs == other.cutoffs ? [] : [RollbackWords.Subject.cutoffs]))
    }

    /// Whether a layout has a place for all of it.
    func fits(in db: Database) throws -> Bool {
        try (statements.isEmpty || db.tableExists("assignment")) && (cutoffs.isEmpty || db.tableExists("cutoff"))
    }

    /// Whether a layout has all tables that another one has.
    static func hasTables(of other: Database, in db: Database) throws -> Bool {
        try tables.keys.allSatisfy { try db.tableExists($0) || !other.tableExists($0) }
    }

    /// In the place of what stands there.
    func write(to db: Database) throws {
        for name in Self.tables.keys where try db.tableExists(name) { try db.execute(sql: "DELETE FROM \(name)") }
        for (roster, said) in statements {
            let table = AssignmentTable(db: db, fleet: [UInt8](roster.fleet))
            for statement in said { try table.insert(statement) }
        }
        for (author, heads) in cutoffs { try CutoffTable(db: db).set(heads, of: author.device, in: author.job) }
    }

    /// So that the outcome is the same each time.
    private static func sorted(_ statements: Set<Assignment>) -> [Assignment] {
        statements.sorted { $0.content.lexicographicallyPrecedes($1.content) }
    }

    private static func rows(of name: String, in db: Database) throws -> [Row] {
        let columns = tables[name] ?? []
        guard try db.tableExists(name) else { return [] }
        guard try Set(db.columns(in: name).map(\.name)).isSuperset(of: columns) else { throw unreadable(name) }
        return try Row.fetchAll(db, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(name)")
    }

    private static func value<Value: DatabaseValueConvertible>(_ row: Row, _ column: String) throws -> Value {
        try read(Value.fromDatabaseValue(row[column]), column)
    }

    private static func read<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw unreadable(name) }
        return value
    }

    private static func unreadable(_ name: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(name) cannot be read")
    }
}
