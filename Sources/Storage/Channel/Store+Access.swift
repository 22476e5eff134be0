import Crypto
import Foundation
import GRDB

/// Somebody who may ask the server.
package struct Access: Hashable, Sendable {
    /// What people call the token; no other has this name, so a new one takes the place of one that was revoked.
    package let name: String
    /// Milliseconds since 1970.
    package let created: Int64
    /// Milliseconds since 1970; nil while the token holds.
    package let revoked: Int64?
}

/// Tokens of devices; only for a store that is the channel. The secret itself is never stored.
extension Store {
    /// - Returns: false when there is one of that name that holds.
    package func addAccess(name: String, secret: String, nowMilliseconds: UInt64) async throws -> Bool {
        try await write { db in
            try db.execute(sql: "DELETE FROM access WHERE name = ? AND revoked IS NOT NULL", arguments: [name])
            try db.execute(
                sql: "INSERT INTO access (hash, name, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                arguments: [Self.hash(secret), name, nowMilliseconds.signed])
            return db.changesCount > 0
        }
    }

    /// - Returns: false when none of that name holds.
    package func revokeAccess(name: String, nowMilliseconds: UInt64) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "UPDATE access SET revoked = ? WHERE name = ? AND revoked IS NULL",
                arguments: [nowMilliseconds.signed, name])
            return db.changesCount > 0
        }
    }

    /// By name.
    package func accessList() async throws -> [Access] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT name, created, revoked FROM access ORDER BY name").map {
                Access(name: $0["name"], created: $0["created"], revoked: $0["revoked"])
            }
        }
    }

    /// Whose secret this is; nil for one that does not hold.
    package func accessName(secret: String) async throws -> String? {
        let hash = Self.hash(secret)
        return try await read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT name FROM access WHERE hash = ? AND revoked IS NULL")
            return try String.fetchOne(statement, arguments: [hash])
        }
    }

    private static func hash(_ secret: String) -> Data {
        Data(SHA256.hash(data: Data(secret.utf8)))
    }
}
