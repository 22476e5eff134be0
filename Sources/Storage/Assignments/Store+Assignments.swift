import Authorship
package import CRDT
import Foundation
import GRDB

/// Who is on which job. Whether who has said so may is asked elsewhere, before it is kept.
extension Store {
    /// All statements that are kept of a fleet, by job.
    ///
    /// - Parameter fleet: the public key of its root.
    package func assignments(of fleet: [UInt8]) async throws -> [Assignment] {
        try await read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT content, signature, certificates FROM assignment WHERE fleet = ? ORDER BY job, content",
                arguments: [Data(fleet)])
            var statements: [Assignment] = []
            while let row = try rows.next() {
                statements.append(
                    try Assignment(
                        content: [UInt8](row["content"] as Data), signature: [UInt8](row["signature"] as Data),
                        certificates: AuthorTable.certificates(in: row["certificates"])))
            }
            return statements
        }
    }

    /// Puts what is known of each job by now in the place of what was kept of it: all, or none.
    package func keepAssignments(_ rosters: [(job: JobID, roster: JobRoster)], of fleet: [UInt8]) async throws {
        try await write { db in
            for (job, roster) in rosters {
                try db.execute(
                    sql: "DELETE FROM assignment WHERE fleet = ? AND job = ?", arguments: [Data(fleet), job.text])
                for statement in roster.statements {
                    try db.execute(
                        sql: """
                            INSERT INTO assignment (fleet, job, content, signature, certificates)
                            VALUES (?, ?, ?, ?, ?)
                            """,
                        arguments: [
                            Data(fleet), job.text, Data(statement.content), Data(statement.signature),
                            AuthorTable.blob(of: statement.certificates),
                        ])
                }
            }
        }
    }

    /// The journals of a job that a laptop has written, under whatever name.
    package func journals(of device: DeviceID, in job: JobID) async throws -> Set<ReplicaID> {
        let held = Set(try await vector(of: job).entries.map(\.replica))
        return Set(try await authors(named: held).filter { $0.value.device == device }.keys)
    }

    /// Which laptop has written under each name of which this store has heard.
    package func authorDevices() async throws -> [ReplicaID: DeviceID] {
        try await read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT replica, key FROM author")
            var devices: [ReplicaID: DeviceID] = [:]
            while let row = try rows.next() {
                devices[ReplicaID(UInt128(blob: row["replica"]))] = DeviceID(ofKey: [UInt8](row["key"] as Data))
            }
            return devices
        }
    }
}
