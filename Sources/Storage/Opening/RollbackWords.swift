import GRDB

/// What people have said that stands in no journal, so that no other laptop brings it back: a rollback takes it over from the newer
/// store. Whoever was taken off a job stays off it, and of a revoked laptop counts what counted.
///
/// Programs of any later version keep these columns as they are (docs/storage.md): an older one, which puts its own store back, reads
/// them in a layout that it does not know otherwise.
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

    private struct Table {
        let subject: Subject
        let name: String
        let columns: [String]
        /// Which rows say something; the rest says no more than no row.
        var condition = "true"

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

    private static let tables = [
        Table(
            subject: .assignments, name: "assignment",
            columns: ["fleet", "job", "content", "signature", "certificates"]),
        Table(subject: .cutoffs, name: "cutoff", columns: ["job", "device", "heads"]),
        Table(subject: .pauses, name: "outboxPause", columns: ["lane"]),
        Table(subject: .pauses, name: "outboxStanding", columns: ["id", "isPaused"], condition: "isPaused"),
    ]

    /// What was said since the copy was made, and is taken over into it.
    package private(set) var kept: Set<Subject> = []
    /// What cannot be: the older layout has no place for it, or this program cannot read it.
    package private(set) var lost: Set<Subject> = []
    private var news: [(table: Table, rows: Set<[DatabaseValue]>)] = []

    /// - Throws: what is wrong with the older one. A newer one that cannot be read may be why somebody goes back.
    init(in newer: Database, against older: Database) throws {
        for table in Self.tables {
            let now = try? table.rows(in: newer)
            let before = try table.rows(in: older)
            if let now, let before {
                guard now != before else { continue }
                kept.insert(table.subject)
                news.append((table, now))
            } else if now.map({ !$0.isEmpty }) ?? (before != nil || (try? newer.tableExists(table.name)) ?? true) {
                lost.insert(table.subject)
            }
        }
        if (try? Bool.fetchOne(newer, sql: "SELECT EXISTS (SELECT 1 FROM workSession)")) == true {
            lost.insert(.sessions)
        }
    }

    /// Nothing was said since.
    package var isEmpty: Bool { kept.isEmpty && lost.isEmpty }

    /// Puts into the copy what the newer store holds.
    func write(to copy: Database) throws {
        for (table, rows) in news { try table.replace(by: rows, in: copy) }
    }
}
