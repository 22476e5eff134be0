import GRDB
import Outbox

/// What people have said that stands in no journal, so that no other laptop brings it back: a rollback takes it over from the newer
/// store. Whoever was taken off a job stays off it, and of a revoked laptop counts what counted.
///
/// Programs of any later version keep these columns as they are (docs/storage.md): an older one, which puts its own store back, reads
/// them in a layout that it does not know otherwise. What it cannot read it leaves, and keeps what the copy says.
package struct RollbackWords {
    /// What was said.
    package enum Subject: String, Codable, CaseIterable, Comparable, Sendable {
        /// Who is on which job.
        case assignments
        /// How far the journals of revoked laptops count.
        case cutoffs
        /// What waits for the server until a person lets it go on.
        case pauses
        /// Who is at this laptop. Nobody is after a rollback: a copy forgets it when it is opened.
        case sessions

        package static func < (one: Subject, other: Subject) -> Bool { one.rawValue < other.rawValue }
    }

    /// Of what is paused.
    private struct Table {
        let name: String
        let columns: [String]
        /// Which rows say something; the rest says no more than no row.
        var condition = "true"
        /// Whether a store would read a row.
        let reads: @Sendable ([DatabaseValue]) -> Bool

        /// - Returns: nil where there is no table with these columns.
        func rows(in db: Database) throws -> Set<[DatabaseValue]>? {
            guard try db.tableExists(name), try Set(db.columns(in: name).map(\.name)).isSuperset(of: columns) else {
                return nil
            }
            let sql = "SELECT \(columns.joined(separator: ", ")) FROM \(name) WHERE \(condition)"
            return try Set(Row.fetchAll(db, sql: sql).map { Array($0.databaseValues) })
        }

        func replace(by rows: Set<[DatabaseValue]>, in db: Database) throws {
            try db.execute(sql: "DELETE FROM \(name)")
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            let insert = try db.makeStatement(
                sql: "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(places))")
            for row in rows { try insert.execute(arguments: StatementArguments(row)) }
        }
    }

    private static let pauses = [
        Table(name: "outboxPause", columns: ["lane"]) { String.fromDatabaseValue($0[0]).flatMap(LaneID.init) != nil },
        Table(name: "outboxStanding", columns: ["id", "isPaused"], condition: "isPaused") { row in
            row.allSatisfy { Int64.fromDatabaseValue($0) == 1 }
        },
    ]

    /// What was said since the copy was made, and is taken over into it.
    package private(set) var kept: Set<Subject> = []
    /// What cannot be: the older layout has no place for it, or this program cannot read it.
    package private(set) var lost: Set<Subject> = []
    private var rosters: RosterWords?
    private var paused: [(table: Table, rows: Set<[DatabaseValue]>)] = []

    /// - Throws: what is wrong with the older one. A newer one that cannot be read may be why somebody goes back.
    init(in newer: Database, against older: Database) throws {
        try compareRosters(in: newer, against: older)
        try comparePauses(in: newer, against: older)
        if (try? Bool.fetchOne(newer, sql: "SELECT EXISTS (SELECT 1 FROM workSession)")) == true {
            lost.insert(.sessions)
        }
    }

    private mutating func compareRosters(in newer: Database, against older: Database) throws {
        let before = try RosterWords(in: older)
        guard (try? RosterWords.hasTables(of: older, in: newer)) == true, let now = try? RosterWords(in: newer) else {
            return lost.formUnion([.assignments, .cutoffs])
        }
        let joined = before.joined(with: now)
        let said = joined.subjects(unlike: before)
        guard try joined.fits(in: older) else { return lost.formUnion(said) }
        kept.formUnion(said)
        if !said.isEmpty { rosters = joined }
    }

    private mutating func comparePauses(in newer: Database, against older: Database) throws {
        for table in Self.pauses {
            let now = (try? table.rows(in: newer)).flatMap { $0.allSatisfy(table.reads) ? $0 : nil }
            let before = try table.rows(in: older)
            if let now, let before {
                if now != before { paused.append((table, now)) }
            } else if now.map({ !$0.isEmpty }) ?? (before != nil || (try? newer.tableExists(table.name)) ?? true) {
                lost.insert(.pauses)
            }
        }
        if lost.contains(.pauses) { paused = [] }
        if !paused.isEmpty { kept.insert(.pauses) }
    }

    /// Nothing was said since.
    package var isEmpty: Bool { kept.isEmpty && lost.isEmpty }

    /// Puts into the copy what the newer store holds.
    func write(to copy: Database) throws {
        try rosters?.write(to: copy)
        for (table, rows) in paused { try table.replace(by: rows, in: copy) }
    }
}
