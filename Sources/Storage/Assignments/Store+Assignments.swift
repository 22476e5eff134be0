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
        try await read { db in try AssignmentTable(db: db, fleet: fleet).statements() }
    }

    /// Keeps statements of those who may say so, beside what is kept, as far as a word of theirs is the last one: all, or none.
    package func keepAssignments(_ statements: [Assignment], of fleet: [UInt8]) async throws {
        try await write { db in
            let table = AssignmentTable(db: db, fleet: fleet)
            for statement in statements { try table.add(statement) }
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
