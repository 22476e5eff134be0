import GRDB

/// When the server last answered, for people: known again after a restart.
extension Store {
    /// - Parameter time: corrected milliseconds since 1970.
    package func noteServerAnswer(at time: UInt64) async throws {
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO serverAnswer (id, at) VALUES (1, ?)", arguments: [time.signed])
        }
    }

    /// Reads what was noted last, in corrected milliseconds since 1970; nil when the server has never answered.
    package func lastServerAnswer() async throws -> UInt64? {
        try await read { db in
            try Int64.fetchOne(db, sql: "SELECT at FROM serverAnswer").map { UInt64(bitPattern: $0) }
        }
    }
}
