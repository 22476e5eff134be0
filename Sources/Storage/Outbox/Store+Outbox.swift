import GRDB
package import CRDT
package import Outbox

/// Something that the outbox wants remembered.
package enum OutboxWrite: Hashable, Sendable {
    /// In the place of what was kept under its token.
    case record(OutboxRecord)
    /// The record under this token goes; the log of attempts stays.
    case forget(MutationToken)
    /// In the place of the one before.
    case standing(OutboxStanding)
    /// At the end of the log, whose oldest entries go beyond `logLimit`.
    case attempt(LoggedAttempt)
}

/// What the outbox has had remembered; what the journals say is no part of it.
package struct OutboxMemory: Hashable, Sendable {
    /// Pauses and a rest; empty as long as none was remembered.
    package let standing: OutboxStanding
    /// Ascending by token.
    package let records: [OutboxRecord]
}

extension Store {
    /// Reads what `remember` has kept and not forgotten; `outboxStart` adds what the journals say.
    package func outboxMemory() async throws -> OutboxMemory {
        try await read { db in
            OutboxMemory(standing: try OutboxStandingTable.get(in: db), records: try OutboxTable.all(in: db))
        }
    }

    /// Remembers what the outbox has said, in its order and in one transaction; durable when it returns.
    ///
    /// - Parameter logLimit: so many attempts are kept.
    package func remember(_ writes: [OutboxWrite], logLimit: Int = 10_000) async throws {
        try await write { db in
            for write in writes {
                switch write {
                case .record(let record): try OutboxTable.set(record, in: db)
                case .forget(let token): try OutboxTable.remove(token, in: db)
                case .standing(let standing): try OutboxStandingTable.set(standing, in: db)
                case .attempt(let attempt): try AttemptTable.add(attempt, limit: logLimit, in: db)
                }
            }
        }
    }

    /// The last attempts, oldest first.
    package func attempts(last limit: Int) async throws -> [LoggedAttempt] {
        try await read { db in try AttemptTable.last(limit, in: db) }
    }
}
