import GRDB

/// Who a server is, as texts in PEM.
package struct ServerPapers: Hashable, Sendable {
    /// Its key, which nobody else may see.
    package let key: String
    /// Its own certificate, its issuer's and the root's; empty without a fleet.
    package let certificates: String
}

/// A server's key lies with what it has said: a backup that is put back speaks on with the same. Only for a store that is the
/// channel.
extension Store {
    /// - Parameter makeKey: for a server that has none yet.
    package func serverPapers(orKey makeKey: @escaping @Sendable () -> String) async throws -> ServerPapers {
        if let papers = try await read({ try Self.papers(in: $0) }) { return papers }
        return try await write { db in
            // Another process may have made one meanwhile.
            if let papers = try Self.papers(in: db) { return papers }
            let papers = ServerPapers(key: makeKey(), certificates: "")
            try db.execute(
                sql: "INSERT INTO server (id, key, certificates) VALUES (1, ?, '')", arguments: [papers.key])
            return papers
        }
    }

    /// Writes down what the fleet says of the key.
    package func keepServerCertificates(_ certificates: String) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE server SET certificates = ?", arguments: [certificates])
        }
    }

    private static func papers(in db: Database) throws -> ServerPapers? {
        try Row.fetchOne(db, sql: "SELECT key, certificates FROM server").map {
            ServerPapers(key: $0["key"], certificates: $0["certificates"])
        }
    }
}
