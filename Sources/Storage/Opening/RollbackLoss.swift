package import CRDT
import Foundation
import GRDB
import Inventory

/// What a store holds of a job, and a copy of before an upgrade does not.
package struct RollbackLoss: Hashable, Sendable {
    /// Which job.
    package let job: JobID
    /// What people call it; empty where nobody has named it.
    package let name: String
    /// Changes that were written on this laptop.
    package private(set) var own = 0
    /// How many of those no other laptop is known to hold.
    package private(set) var unheld = 0
    /// Changes that came from others.
    package private(set) var received = 0
    /// Whether the job was removed since.
    package let isRemoved: Bool

    /// Of all jobs that differ, the one with the most of its own changes first.
    ///
    /// - Throws: where the layout of the newer one is not what this program knows.
    static func all(in newer: Database, against older: Database) throws -> [RollbackLoss] {
        let names = try ownNames(in: newer).union(try ownNames(in: older))
        var losses: [RollbackLoss] = []
        for row in try Row.fetchAll(newer, sql: "SELECT number, id, name, isRemoved FROM job ORDER BY id") {
            guard let id = JobID(row["id"] as String) else { continue }
            let now = JobRows(row["number"], in: newer)
            let before = try JobRows(known: id, in: older)
            let isRemoved: Bool = row["isRemoved"]
            var loss = RollbackLoss(
                job: id,
                name: isRemoved ? row["name"] : try now.item(.job)?.value(of: JobProperty.name) ?? "",
                isRemoved: try isRemoved && !(before?.isRemoved() ?? false))
            for replica in try now.vector().entries.map(\.replica) {
                try loss.count(
                    now.journal(of: replica), after: before?.journal(of: replica).head().sequence ?? 0, names)
            }
            if loss.own + loss.received > 0 || loss.isRemoved { losses.append(loss) }
        }
        return losses.sorted { ($0.own, $0.received, $1.job) > ($1.own, $1.received, $0.job) }
    }

    private mutating func count(_ journal: JournalRows, after base: UInt64, _ ownNames: Set<ReplicaID>) throws {
        let isOwn = ownNames.contains(journal.replica)
        let held = isOwn ? try Self.heldElsewhere(journal) : 0
        for piece in try journal.pieces(from: base + 1) {
            var sequence = piece.first
            try ChangeCodec.scan(piece.bytes) { scanned, _ in
                let last = scanned.last(from: sequence)
                sequence = last + 1
                guard last > base else { return }
                if isOwn {
                    own += 1
                    if last > held { unheld += 1 }
                } else {
                    received += 1
                }
            }
        }
    }

    /// The names under which this laptop has written.
    private static func ownNames(in db: Database) throws -> Set<ReplicaID> {
        let current = try String.fetchOne(db, sql: "SELECT replica FROM store").flatMap { ReplicaID($0) }
        let former = try db.tableExists("former") ? try FormerTable.all(in: db) : []
        return former.union(current.map { [$0] } ?? [])
    }

    /// How far some other laptop was last known to hold a journal.
    private static func heldElsewhere(_ journal: JournalRows) throws -> UInt64 {
        let held = try Int64.fetchOne(
            journal.db, sql: "SELECT max(sequence) FROM known WHERE job = ? AND replica = ?",
            arguments: [journal.job.number, journal.replica.value.blob])
        return UInt64(bitPattern: held ?? 0)
    }
}
