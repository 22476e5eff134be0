import CRDT
import GRDB
import Outbox

/// What the outbox remembers of each request.
enum OutboxTable {
    /// In the transaction that writes an own request into its journal.
    static func addOwn(_ token: MutationToken, in db: Database) throws {
        try set(OutboxRecord(token: token), in: db)
        let statement = try db.cachedStatement(sql: "UPDATE outbox SET isOwn = 1 WHERE token = ?")
        try statement.execute(arguments: [token.value.blob])
    }

    /// At each change.
    static func set(_ record: OutboxRecord, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO outbox
                    (token, attempts, failures, waitSince, waitMilliseconds, waitCause, lastError, state, verdict, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET attempts = excluded.attempts, failures = excluded.failures,
                    waitSince = excluded.waitSince, waitMilliseconds = excluded.waitMilliseconds,
                    waitCause = excluded.waitCause, lastError = excluded.lastError, state = excluded.state,
                    verdict = excluded.verdict, reason = excluded.reason
                """)
        let (state, verdict, reason) = columns(of: record.state)
        try statement.execute(arguments: [
            record.token.value.blob, record.attempts, record.failures, record.wait?.since.signed,
            record.wait?.milliseconds.signed, record.wait?.cause.rawValue, record.lastError, state, verdict, reason,
        ])
    }

    static func remove(_ token: MutationToken, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM outbox WHERE token = ?")
        try statement.execute(arguments: [token.value.blob])
    }

    static func all(in db: Database) throws -> [OutboxRecord] {
        try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY token").map { row in
            var record = OutboxRecord(token: MutationToken(UInt128(blob: row["token"])))
            record.attempts = row["attempts"]
            record.failures = row["failures"]
            record.wait = Wait(
                since: row["waitSince"], milliseconds: row["waitMilliseconds"], cause: row["waitCause"])
            record.lastError = row["lastError"]
            record.state = state(row)
            return record
        }
    }

    private static func columns(of state: OutboxRecord.State) -> (String, Int?, String?) {
        switch state {
        case .pending: ("pending", nil, nil)
        case .answered(let verdict): ("answered", Int(verdict.rawValue), nil)
        case .rejected(let reason): ("rejected", nil, reason)
        }
    }

    /// What cannot be read is pending: the server is asked again, which is harmless.
    private static func state(_ row: Row) -> OutboxRecord.State {
        switch row["state"] as String {
        case "answered":
            (row["verdict"] as Int?).flatMap { Outcome.Verdict(rawValue: UInt8(clamping: $0)) }.map { .answered($0) }
                ?? .pending
        case "rejected": .rejected(row["reason"] as String? ?? "")
        default: .pending
        }
    }
}

extension Wait {
    /// From three columns that are null together.
    init?(since: Int64?, milliseconds: Int64?, cause: String?) {
        guard let since, let milliseconds, let cause = cause.flatMap(Cause.init) else { return nil }
        self.init(
            since: UInt64(bitPattern: since), milliseconds: UInt64(bitPattern: milliseconds), cause: cause)
    }
}
