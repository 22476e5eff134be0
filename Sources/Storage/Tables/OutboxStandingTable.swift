import GRDB
import Outbox

/// Pauses, and the server's wish to be left alone.
enum OutboxStandingTable {
    static func set(_ standing: OutboxStanding, in db: Database) throws {
        let rest = standing.rest
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO outboxStanding
                    (id, isPaused, restSince, restMilliseconds, restCause, restFailures) VALUES (1, ?, ?, ?, ?, ?)
                """,
            arguments: [
                standing.isPaused, rest?.wait.since.signed, rest?.wait.milliseconds.signed, rest?.wait.cause.rawValue,
                rest?.failures,
            ])
        try db.execute(sql: "DELETE FROM outboxPause")
        for lane in standing.pausedLanes {
            try db.execute(sql: "INSERT INTO outboxPause (lane) VALUES (?)", arguments: [lane.description])
        }
    }

    static func get(in db: Database) throws -> OutboxStanding {
        var standing = OutboxStanding()
        if let row = try Row.fetchOne(db, sql: "SELECT * FROM outboxStanding") {
            standing.isPaused = row["isPaused"]
            let wait = Wait(since: row["restSince"], milliseconds: row["restMilliseconds"], cause: row["restCause"])
            standing.rest = wait.map { OutboxStanding.Rest(wait: $0, failures: row["restFailures"] as Int? ?? 1) }
        }
        let lanes = try String.fetchAll(db, sql: "SELECT lane FROM outboxPause")
        standing.pausedLanes = Set(lanes.compactMap(LaneID.init))
        return standing
    }
}
