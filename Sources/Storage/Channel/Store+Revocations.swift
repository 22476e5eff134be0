package import CRDT
import Foundation
import GRDB

/// Whom the server's fleet has shut out. What an entry says is not looked at here; only for a store that is the channel.
extension Store {
    /// All entries, ascending by device.
    package func revocationEntries() async throws -> [[UInt8]] {
        try await read { db in
            try Data.fetchAll(db, sql: "SELECT entry FROM revocation ORDER BY device").map { Array($0) }
        }
    }

    /// Puts each entry in the place of what is held of its device: all, or none.
    package func keepRevocations(_ entries: [(device: DeviceID, entry: [UInt8])]) async throws {
        try await write { db in
            for (device, entry) in entries {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO revocation (device, entry) VALUES (?, ?)",
                    arguments: [device.description, Data(entry)])
            }
        }
    }
}
