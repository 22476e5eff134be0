import CRDT
import LocalAPI
import Storage

/// Who takes part in a job.
extension InventoryService {
    func roster(job text: String) async throws -> [RosterMember] {
        try await answering {
            let job = try await resolve(job: text)
            return try await members(of: job)
        }
    }

    func expel(_ replica: String, job text: String) async throws -> RosterMember {
        try await answering {
            let job = try await resolve(job: text)
            let fitting = try await members(of: job).filter {
                $0.replicaID.hasPrefix(replica.lowercased()) || $0.name == replica
            }
            guard let member = fitting.first, let id = ReplicaID(member.replicaID) else {
                throw APIError(
                    .unknownReplica, "The roster has no '\(replica)'; 'muster job roster' shows who is on it.")
            }
            guard fitting.count == 1 else {
                throw APIError(
                    .ambiguousReplica, "'\(replica)' fits \(fitting.count) replicas; write the id of one.",
                    candidates: fitting.map(\.replicaID))
            }
            guard !member.isOwn else {
                throw APIError(
                    .invalidValue, "This laptop cannot take itself off the roster; do it on another laptop.")
            }
            if !member.isExpelled {
                await replicator.committed(try await store.expel(id, job: job.id, nowMilliseconds: nowMilliseconds))
            }
            var expelled = member
            expelled.isExpelled = true
            return expelled
        }
    }

    private func members(of job: StoredJob) async throws -> [RosterMember] {
        let own = store.identity.replica
        return try await store.roster(of: job.id).map { entry in
            RosterMember(
                replicaID: entry.replica.description, name: Self.hostName(of: entry.replica, in: job),
                isOwn: entry.replica == own, since: entry.since?.timestamp, lastSeenAt: entry.lastSeen?.timestamp,
                behind: entry.replica == own ? 0 : Int(clamping: job.vector.missing(in: entry.holds)),
                isExpelled: entry.isExpelled)
        }
    }
}

extension VersionVector {
    /// How many transforms of this one another lacks.
    func missing(in other: VersionVector) -> UInt64 {
        entries.reduce(0) { sum, entry in
            sum + entry.head.sequence - min(entry.head.sequence, other[entry.replica].sequence)
        }
    }
}
