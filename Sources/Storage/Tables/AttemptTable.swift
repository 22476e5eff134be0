import CRDT
import GRDB
package import Outbox

/// An attempt as it is kept for people: with the times that they know.
package struct LoggedAttempt: Hashable, Sendable {
    /// The attempt. The outbox gives its times in milliseconds since the boot; read back they are `at` and `next`.
    package let event: AttemptEvent
    /// Corrected milliseconds since 1970.
    package let at: UInt64
    /// When the next attempt was due, in the same milliseconds; nil when none was to follow.
    package let next: UInt64?

    /// Takes times that people know: corrected milliseconds since 1970.
    package init(event: AttemptEvent, at: UInt64, next: UInt64?) {
        self.event = event
        self.at = at
        self.next = next
    }
}

enum AttemptTable {
    static func add(_ attempt: LoggedAttempt, limit: Int, in db: Database) throws {
        let event = attempt.event
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO attempt (token, attempt, at, duration, next, outcome, status, detail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            event.token.value.blob, event.attempt, attempt.at.signed, event.durationMilliseconds.signed,
            attempt.next?.signed, event.outcome.rawValue, event.status, event.detail,
        ])
        let oldest = try db.cachedStatement(sql: "DELETE FROM attempt WHERE number <= ?")
        try oldest.execute(arguments: [db.lastInsertedRowID - Int64(limit)])
    }

    /// The newest, oldest first.
    static func last(_ limit: Int, in db: Database) throws -> [LoggedAttempt] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM attempt ORDER BY number DESC LIMIT ?", arguments: [limit])
        return rows.reversed().compactMap { row in
            guard let outcome = AttemptEvent.Ending(rawValue: row["outcome"]) else { return nil }
            let at = UInt64(bitPattern: row["at"])
            let next = (row["next"] as Int64?).map { UInt64(bitPattern: $0) }
            let event = AttemptEvent(
                token: MutationToken(UInt128(blob: row["token"])), attempt: row["attempt"], began: at,
                nextAttempt: next, durationMilliseconds: UInt64(bitPattern: row["duration"]), outcome: outcome,
                status: row["status"], detail: row["detail"])
            return LoggedAttempt(event: event, at: at, next: next)
        }
    }
}
