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
        try await read(of: job) { rows in
            let stamps = try rows.db.cachedStatement(sql: "SELECT stamp FROM journal WHERE job = ? AND replica = ?")
            return try rows.vector().entries.filter { $0.replica != .channel }.map { entry in
                let last = try Int64.fetchOne(stamps, arguments: [rows.number, entry.replica.value.blob])
                return Participant(
                    replica: entry.replica, since: try rows.journal(of: entry.replica).firstStamp(),
                    lastSeen: Stamp(rawValue: UInt64(bitPattern: last ?? 0)), head: entry.head)
            }
        }
    }
}

extension JournalRows {
    fileprivate func firstStamp() throws -> Stamp? {
        guard let piece = try pieces(from: 1, maximumBytes: 1).first, piece.first == 1 else { return nil }
        var stamp: Stamp?
        try ChangeCodec.scan(piece.bytes) { scanned, _ in stamp = stamp ?? scanned.stamp }
        return stamp
    }
}
