import Authorship
package import CRDT
import Foundation
import GRDB
import Synchronization

/// Who is on which job. Whether who has said so may is asked elsewhere, before it is kept.
extension Store {
    /// All statements that are kept of a fleet, by job.
    ///
    /// - Parameter fleet: the public key of its root.
    package func assignments(of fleet: [UInt8]) async throws -> [Assignment] {
        try await read { db in try AssignmentTable(db: db, fleet: fleet).statements() }
    }

    /// The device belongs to a fleet: its words count from now on, and no other's.
    ///
    /// - Parameter fleet: the public key of its root; empty for none.
    /// - Returns: all statements that are kept of it, by job.
    package func follow(_ fleet: [UInt8]) async throws -> [Assignment] {
        self.fleet.withLock { $0 = fleet }
        return try await assignments(of: fleet)
    }

    /// Who is on a job, as the open transaction sees it.
    func roster(of job: JobID, in db: Database) throws -> JobRoster {
        try AssignmentTable(db: db, fleet: fleet.withLock { $0 }).roster(of: job)
    }

    /// Keeps statements of those who may say so, beside what is kept, as far as a word of theirs is the last one: all, or none.
    package func keepAssignments(_ statements: [Assignment], of fleet: [UInt8]) async throws {
        try await write(isLong: statements.count > Self.fewEdits) { db in
            let table = AssignmentTable(db: db, fleet: fleet)
            var cutoffs: [JobID: [DeviceID: JobRoster.Cutoff]] = [:]
            for (job, said) in Dictionary(grouping: statements, by: \.job).sorted(by: { $0.key < $1.key }) {
                guard let roster = try table.add(said, to: job), !roster.cutoffs.isEmpty else { continue }
                cutoffs[job] = roster.cutoffs
            }
            for (job, cutoffs) in cutoffs.sorted(by: { $0.key < $1.key }) { try Self.set(cutoffs, of: job, in: db) }
        }
    }

    /// What a revoked laptop has written beyond its cutoff leaves the items in the same transaction.
    private static func set(
        _ cutoffs: [DeviceID: JobRoster.Cutoff], of job: JobID, in db: Database
    ) throws {
        let rows = try JobRows(known: job, in: db)
        let former = try rows?.limits() ?? JournalLimits()
        try CutoffTable(db: db).set(cutoffs, of: job)
        try rows?.recount(from: former)
    }

    /// How far the journals are held that a laptop has written in a job, under whatever name.
    package func heads(of device: DeviceID, in job: JobID) async throws -> VersionVector {
        let held = try await vector(of: job)
        let own = try await authors(named: Set(held.entries.map(\.replica))).filter { $0.value.device == device }
        return VersionVector(held.entries.filter { own[$0.replica] != nil })
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
