import CRDT
import Inventory
import LocalAPI
import Storage

/// Work that came too late to be applied.
extension InventoryService {
    func late(job text: String) async throws -> [LocalAPI.LateChange] {
        try await answering {
            let job = try await resolve(job: text)
            let reporter = ChangeReporter(job: job)
            return try await store.lateChanges(of: job.id).map { late in
                let report = reporter.report(late)
                return LocalAPI.LateChange(
                    replicaID: late.dot.replica.description, name: Self.hostName(of: late.dot.replica, in: job),
                    last: late.dot.sequence + UInt64(late.change.operations.count) - 1, change: report)
            }.sorted { $0.change.precedes($1.change) }
        }
    }

    func acceptLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await decide(decision, job: job) { replica, sequence, job in
            try await store.acceptLate(replica: replica, upTo: sequence, job: job, now: clock.now)
        }
    }

    func dropLate(_ decision: LateDecision, job: String) async throws -> LateOutcome {
        try await decide(decision, job: job) { replica, sequence, job in
            let commit = try await store.dropLate(
                replica: replica, upTo: sequence, job: job, now: clock.now)
            return [commit].compactMap(\.self)
        }
    }

    private func decide(
        _ decision: LateDecision, job text: String,
        _ carryOut: (ReplicaID, UInt64, JobID) async throws -> [Commit]
    ) async throws -> LateOutcome {
        try await answering {
            let job = try await resolve(job: text)
            let bounds = try decision.upTo.map { text, sequence in
                guard let replica = ReplicaID(text) else {
                    throw APIError(
                        .unknownReplica, "'\(text)' is no replica id; 'muster job late' shows whose work waits.")
                }
                return (replica: replica, sequence: sequence)
            }.sorted { $0.replica < $1.replica }
            var outcome = LateOutcome(changes: 0, replicas: [], job: job.id.text)
            for bound in bounds {
                let waiting = try await late(job: job.id.text).count { late in
                    late.replicaID == bound.replica.description && late.last <= bound.sequence
                }
                guard waiting > 0 else { continue }
                for commit in try await carryOut(bound.replica, bound.sequence, job.id) {
                    await replicator.committed(commit)
                    guard commit.job != job.id else { continue }
                    outcome.job = commit.job.text
                    outcome.newJobs.append(commit.job.text)
                }
                outcome.changes += waiting
                outcome.replicas.append(bound.replica.description)
            }
            return outcome
        }
    }
}
