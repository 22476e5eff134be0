import GRDB
package import Timekeeping

/// What is known of the time, kept for the next start.
extension Store {
    /// Reads the record that was kept last; nil before the first one.
    package func clockRecord() async throws -> ClockRecord? {
        try await read { db in
            guard let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM clock")) else { return nil }
            return ClockRecord(
                boot: row["boot"], offset: row["offset"], uncertainty: row["uncertainty"],
                stratum: UInt8(clamping: row["stratum"] as Int), measured: row["measured"],
                source: (row["source"] as String?).map(Self.source), wallDrift: row["wallDrift"],
                floor: row["floor"], isPlausible: row["isPlausible"])
        }
    }

    /// Keeps a record in the place of the one before, durably.
    package func keep(_ record: ClockRecord) async throws {
        try await write { db in try Self.keep(record, in: db) }
    }

    static func keep(_ record: ClockRecord, in db: Database) throws {
        let source: String? =
            switch record.source {
            case .server: ""
            case .peer(let device): device
            case nil: nil
            }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO clock
                    (id, boot, offset, uncertainty, stratum, measured, source, wallDrift, floor, isPlausible)
                VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.boot, record.offset, record.uncertainty, Int(record.stratum), record.measured, source,
                record.wallDrift, record.floor, record.isPlausible,
            ])
    }

    /// The server has no name of its own among the sources.
    private static func source(_ text: String) -> TimeSource {
        text.isEmpty ? .server : .peer(text)
    }
}
