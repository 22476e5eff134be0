import CRDT
import Foundation
import GRDB

/// What is kept of who is on jobs, by the fleet whose leads and office have said it.
struct AssignmentTable {
    let db: Database
    /// The public key of the fleet's root.
    let fleet: [UInt8]

    /// - Parameter job: nil for those of all jobs, by job.
    func statements(of job: JobID? = nil) throws -> [Assignment] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT content, signature, certificates FROM assignment WHERE fleet = ?1 AND (?2 IS NULL OR job = ?2)
                ORDER BY job, content
                """, arguments: [Data(fleet), job?.text])
        var statements: [Assignment] = []
        while let row = try rows.next() {
            statements.append(
                try Assignment(
                    content: [UInt8](row["content"] as Data), signature: [UInt8](row["signature"] as Data),
                    certificates: AuthorTable.certificates(in: row["certificates"])))
        }
        return statements
    }

    func roster(of job: JobID) throws -> JobRoster {
        var roster = JobRoster()
        for kept in try statements(of: job) { _ = roster.apply(kept) }
        return roster
    }

    /// Beside what is kept by now, not by when somebody looked: several come at once. What says nothing any more goes.
    ///
    /// - Parameter statements: about one job.
    /// - Returns: the job's roster with them; nil when they say nothing new.
    func add(_ statements: [Assignment], to job: JobID) throws -> JobRoster? {
        var roster = JobRoster()
        let former = try self.statements(of: job)
        for kept in former { _ = roster.apply(kept) }
        let before = roster.fingerprint
        for statement in statements { _ = roster.apply(statement) }
        guard roster.fingerprint != before else { return nil }
        let (known, standing) = (Set(former), Set(roster.statements))
        for kept in former where !standing.contains(kept) {
            try db.execute(
                sql: "DELETE FROM assignment WHERE fleet = ? AND job = ? AND content = ?",
                arguments: [Data(fleet), job.text, Data(kept.content)])
        }
        for statement in roster.statements where !known.contains(statement) {
            try insert(statement)
        }
        return roster
    }

    /// Enters one that is not there.
    func insert(_ statement: Assignment) throws {
        try db.execute(
            sql: "INSERT INTO assignment (fleet, job, content, signature, certificates) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                Data(fleet), statement.job.text, Data(statement.content), Data(statement.signature),
                AuthorTable.blob(of: statement.certificates),
            ])
    }
}
