package import CRDT
import Foundation
import GRDB
package import Inventory

/// Who is at this laptop, who was at which laptop when, and the names that the crew has.
extension Store {
    /// Who was at which laptop when in a job, as far as its journals are held.
    package func workSessions(of job: JobID) async throws -> WorkSessions {
        try await read(of: job) { try $0.workSessions() }
    }

    /// Who is at this laptop, by the Unix user of the machine.
    package func currentSessions() async throws -> [UInt32: WorkSession] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT user, text FROM workSession").reduce(into: [:]) { sessions, row in
                sessions[UInt32(truncatingIfNeeded: row["user"] as Int64)] = WorkSession(text: Self.text(row["text"]))
            }
        }
    }

    /// Begins a user's session, in the place of one that goes on; its name is on the crew's list from then on.
    package func begin(_ session: WorkSession, of user: UInt32) async throws {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO workSession (user, text) VALUES (?, ?)",
                arguments: [Int64(user), Data(session.text.utf8)])
            try db.execute(
                sql: "INSERT INTO crew (name) VALUES (?) ON CONFLICT DO NOTHING",
                arguments: [Data(session.name.utf8)])
        }
    }

    /// Ends a user's session, if there is one.
    package func endSession(of user: UInt32) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM workSession WHERE user = ?", arguments: [Int64(user)])
        }
    }

    /// The names that were taken here, and those that stand in the jobs that are held.
    package func crewList() async throws -> CrewList {
        try await read { db in
            let own = try Data.fetchAll(db, sql: "SELECT name FROM crew").map(Self.text)
            let met = try Data.fetchAll(db, sql: "SELECT DISTINCT text FROM person")
                .compactMap { WorkSession(text: Self.text($0))?.name }
            return CrewList(own + met)
        }
    }

    /// Who is at this laptop as a user of the machine; in a transaction, so that what is written and whose it is agree.
    static func session(of user: UInt32, in db: Database) throws -> WorkSession? {
        let statement = try RawStatement("SELECT text FROM workSession WHERE user = ?", in: db)
        let text = try statement.first(.number(Int64(user))) { String(decoding: $0.blob(0), as: UTF8.self) }
        return text.flatMap { WorkSession(text: $0) }
    }

    private static func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }
}
