import CRDT
import Storage

// Stands in until the store's rosters are there.

struct RosterEntry {
    let replica: ReplicaID
    let since: Stamp?
    let lastSeen: Stamp?
    let holds: VersionVector
    let isExpelled: Bool
}

struct LateChange {
    let dot: Dot
    let change: Change
}

extension Store {
    func roster(of job: JobID) async throws -> [RosterEntry] {
        try await vector(of: job).entries.map { entry in
            RosterEntry(replica: entry.replica, since: nil, lastSeen: nil, holds: VersionVector(), isExpelled: false)
        }
    }

    func lateChanges(of job: JobID) async throws -> [LateChange] { [] }

    func expel(_ replica: ReplicaID, job: JobID, nowMilliseconds: UInt64) async throws -> Commit {
        throw StoreError.unknownJob(job)
    }

    func removeJob(_ job: JobID, nowMilliseconds: UInt64) async throws -> Commit { throw StoreError.unknownJob(job) }

    func acceptLate(replica: ReplicaID, upTo: UInt64, job: JobID, nowMilliseconds: UInt64) async throws -> Commit? {
        nil
    }

    func dropLate(replica: ReplicaID, upTo: UInt64, job: JobID, nowMilliseconds: UInt64) async throws -> Commit? {
        nil
    }
}
