import CRDT
import LocalAPI
import Replication
import Storage

/// Who takes part in a job.
extension InventoryService {
    func roster(job text: String) async throws -> [RosterMember] {
        try await answering {
            let job = try await resolve(job: text)
            let entries = try await store.participants(of: job.id)
            let names = entries.map { Self.hostName(of: $0.replica, in: job) }
            let lacking = await replicator.lacking(of: job.id)
            return zip(entries, names).map { entry, name in
                // A laptop is found again by its name, if only one has it.
                let isOnlyOne = names.count { $0 == name } == 1
                let isOwn = entry.replica == store.identity.replica
                let behind = isOwn ? 0 : isOnlyOne ? name.flatMap { lacking[$0] } : nil
                return RosterMember(
                    replicaID: entry.replica.description, name: name, isOwn: isOwn,
                    since: entry.since.map(\.timestamp), lastSeenAt: entry.lastSeen.timestamp,
                    behind: behind.map { Int(clamping: $0) })
            }
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
