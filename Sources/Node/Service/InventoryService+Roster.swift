import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Replication
import Storage

/// Who takes part in a job.
extension InventoryService {
    func roster(job text: String) async throws -> [RosterMember] {
        try await answering {
            let job = try await resolve(job: text)
            let connected = await replicator.peers(of: job.id)
            let met = try await store.heard()
            let former = try await store.formerReplicas()
            let sessions = try await store.workSessions(of: job.id)
            var members: [RosterMember] = []
            for entry in try await store.participants(of: job.id) {
                let name = Self.hostName(of: entry.replica, in: job)
                var member = RosterMember(
                    replicaID: entry.replica.description, name: name,
                    person: sessions.latest(of: entry.replica)?.name, isOwn: entry.replica == store.identity.replica,
                    since: entry.since.map(\.timestamp), lastSeenAt: entry.lastSeen.timestamp)
                if member.isOwn || former.contains(entry.replica) {
                    (member.isConnected, member.heardAt, member.behind) = (true, now, 0)
                } else if let name {
                    // A laptop is found again by its name, if only one has it.
                    let here = connected.filter { $0.peer.name.utf8.elementsEqual(name.utf8) }
                    let laptops = met.filter { $0.name.utf8.elementsEqual(name.utf8) }
                    if let link = here.first {
                        (member.isConnected, member.heardAt) = (true, now)
                        member.behind = here.count == 1 ? Int(clamping: link.behind) : nil
                    } else if let laptop = laptops.first, laptops.count == 1 {
                        member.heardAt = Timestamp(milliseconds: Int64(clamping: laptop.at))
                        member.behind = try await lacked(by: laptop, of: job)
                    }
                }
                members.append(member)
            }
            return members
        }
    }

    private var now: Timestamp { Timestamp(milliseconds: Int64(clamping: nowMilliseconds)) }

    /// How many transforms a laptop lacked when it was last heard of, of what is here now; nil when that is not known.
    private func lacked(by laptop: Heard, of job: StoredJob) async throws -> Int? {
        guard let known = try await lastKnown(of: laptop, in: job) else { return nil }
        return job.vector.entries.reduce(0) { sum, entry in
            sum + Int(clamping: entry.head.sequence - min(entry.head.sequence, known(entry.replica)))
        }
    }
}
