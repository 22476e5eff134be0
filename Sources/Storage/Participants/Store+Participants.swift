package import CRDT
import GRDB

/// A replica that has written in a job.
package struct Participant: Hashable, Sendable {
    /// Whose journal it is; never the channel.
    package let replica: ReplicaID
    /// The stamp of its first change; nil when that went with a removed job.
    package let since: Stamp?
    /// The greatest stamp of its changes.
    package let lastSeen: Stamp
    /// How far this store holds its journal.
    package let head: JournalHead
}

extension Store {
    /// Who has written in a job, in order of replicas.
    package func participants(of job: JobID) async throws -> [Participant] {
        try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let stamps = try db.cachedStatement(sql: "SELECT stamp FROM journal WHERE job = ? AND replica = ?")
            return try JournalTable.vector(of: number, in: db).entries.filter { $0.replica != .channel }.map { entry in
                let journal = JournalKey(job: number, replica: entry.replica)
                let last = try Int64.fetchOne(stamps, arguments: [number, entry.replica.value.blob])
                return Participant(
                    replica: entry.replica, since: try Self.firstStamp(of: journal, in: db),
                    lastSeen: Stamp(rawValue: UInt64(bitPattern: last ?? 0)), head: entry.head)
            }
        }
    }

    private static func firstStamp(of journal: JournalKey, in db: Database) throws -> Stamp? {
        guard let piece = try JournalTable.pieces(of: journal, from: 1, maximumBytes: 1, in: db).first, piece.first == 1
        else { return nil }
        var stamp: Stamp?
        try ChangeCodec.scan(piece.bytes) { scanned, _ in stamp = stamp ?? scanned.stamp }
        return stamp
    }
}
