import CRDT
import Foundation
import GRDB

/// Names that this laptop's store had before it was found to be set back (rule R9): what was written under them is its own.
enum FormerTable {
    static func add(_ replica: ReplicaID, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO former (replica) VALUES (?) ON CONFLICT DO NOTHING", arguments: [replica.value.blob])
    }

    static func all(in db: Database) throws -> Set<ReplicaID> {
        Set(try Data.fetchAll(db, sql: "SELECT replica FROM former").map { ReplicaID(UInt128(blob: $0)) })
    }
}
