import CRDT
import LocalAPI
import Replication
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
                await replicator.committed(try await store.expel(id, job: job.id, now: clock.now))
            }
            var expelled = member
            expelled.isExpelled = true
            return expelled
        }
    }

    private func members(of job: StoredJob) async throws -> [RosterMember] {
        let entries = try await store.roster(of: job.id)
        let names = entries.map { Self.hostName(of: $0.replica, in: job) }
        let lacking = await replicator.lacking(of: job.id)
        return zip(entries, names).map { entry, name in
            // What a connected laptop has acknowledged is newer than what it says in its journal, if the name tells it.
            let isOnlyOne = names.count { $0 == name } == 1
            let acknowledged = isOnlyOne ? name.flatMap { lacking[$0] } : nil
            let isOwn = entry.replica == store.identity.replica
            return RosterMember(
                replicaID: entry.replica.description, name: name, isOwn: isOwn,
                since: entry.since == .zero ? nil : entry.since.timestamp, lastSeenAt: entry.lastSeen.timestamp,
                behind: isOwn ? 0 : Int(clamping: min(entry.missing, acknowledged ?? .max)), late: entry.lateChanges,
                isExpelled: entry.standing == .expelled)
        }
    }
}

extension Replicator {
    /// How many transforms of a job each connected laptop lacks, by its name; only where one has that name.
    func lacking(of job: JobID) -> [String: UInt64] {
        let peers = mesh.overview().map { (name: $0.peer.name, transforms: mesh.behind($0.link, job: job)) }
        return Dictionary(grouping: peers, by: \.name).compactMapValues { $0.count == 1 ? $0[0].transforms : nil }
    }
}
