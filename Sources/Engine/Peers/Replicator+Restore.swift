import Authorship
package import CRDT
import Logging
import Replication
package import Storage

/// What became of a restore.
package struct RestoreOutcome: Sendable {
    /// A journal of which the backup holds something that was not taken.
    package struct LeftOut: Hashable, Sendable {
        package let job: JobID
        package let journal: ReplicaID
        package let reason: Reason

        package enum Reason: String, Hashable, Sendable {
            /// Nobody of the fleet has written it.
            case unvouched
            /// It is not what its author has signed.
            case damaged
            /// The server's own word parts from what is held of it: the server says which one holds.
            case serversWord
            /// It parted from what is held, and could not be put together again.
            case forked
        }
    }

    /// How many transforms came in.
    package internal(set) var transforms: UInt64 = 0
    /// Ascending by job and journal.
    package internal(set) var leftOut: [LeftOut] = []
}

/// The store cannot take in what a backup holds; what came before stays.
package struct RestoreFailure: Error, Hashable, Sendable {}

/// A backup is brought in as a peer's work is: signed runs, each of which is checked, joined and told to everybody. Nothing that is
/// held here gives way to it, other than by the rules for peers (docs/storage.md, "Backup and restore").
extension Replicator {
    /// What a backup would bring.
    package func difference(of backup: Store) async throws -> BackupDifference {
        try await BackupComparison(store: store, backup: backup).difference()
    }

    /// Takes in what a backup holds, job by job. What was taken is durable, also where the rest cannot be.
    ///
    /// - Parameters:
    ///   - backup: writes with this laptop's key, for what it may have to issue again.
    ///   - isOwn: whether an author is believed without the fleet's word.
    /// - Throws: `RestoreFailure`; `StoreError`.
    package func restore(
        from backup: Store, believing isOwn: @escaping @Sendable (JournalAuthor) -> Bool
    ) async throws -> RestoreOutcome {
        var outcome = RestoreOutcome()
        // Before anything else of a job: who may be told of it.
        await learnAssignments(of: backup)
        let comparison = BackupComparison(store: store, backup: backup)
        for (job, _) in try await backup.vectors() {
            // An end is not signed, and who told it may not have been on the job by then: a restore ends nothing.
            guard try await !comparison.job(job).isEndedThere else { continue }
            try await restore(job, by: comparison, believing: isOwn, &outcome)
        }
        return outcome
    }

    private func learnAssignments(of backup: Store) async {
        guard let assignments, let kept = try? await backup.assignments(ofFleetOf: store) else { return }
        for (job, statements) in Dictionary(grouping: kept, by: \.job).sorted(by: { $0.key < $1.key }) {
            do throws(AssignmentObstacle) {
                try await assignments.learn(statements)
                assigned([job])
            } catch {
                logger.warning(
                    "words of a backup about who is on a job are not taken",
                    metadata: ["job": "\(job)", "reason": "\(error.description)"])
            }
        }
    }

    private func restore(
        _ job: JobID, by comparison: BackupComparison, believing isOwn: (JournalAuthor) -> Bool,
        _ outcome: inout RestoreOutcome
    ) async throws {
        var skipped: Set<ReplicaID> = []
        // What is written here meanwhile may part a journal anew, but hardly so often.
        for _ in 0..<Self.mostRounds {
            let differing = try await comparison.job(job).differing.filter { !skipped.contains($0.replica) }
            guard let first = differing.first else { return }
            // Forks last: what their own changes stand on is here then.
            let next = differing.first { !$0.standing.isForked } ?? first
            let reason: RestoreOutcome.LeftOut.Reason?
            switch next.standing {
            case .held: reason = nil
            case .ahead(let sequence):
                reason = try await take(
                    next.replica, of: job, after: sequence, from: comparison.backup, believing: isOwn,
                    counting: &outcome.transforms)
            case .forked(let keep): reason = try await join(next.replica, of: job, after: keep, by: comparison)
            case .unreadable: reason = .damaged
            }
            guard let reason else { continue }
            skipped.insert(next.replica)
            outcome.leftOut.append(RestoreOutcome.LeftOut(job: job, journal: next.replica, reason: reason))
        }
        for left in try await comparison.job(job).differing where !skipped.contains(left.replica) {
            outcome.leftOut.append(RestoreOutcome.LeftOut(job: job, journal: left.replica, reason: .forked))
        }
    }

    private static let mostRounds = 10_000

    /// Takes the rest of a journal in, run by run.
    ///
    /// - Returns: why some of it is left out; nil where all of it is here, or the journal has to be looked at again.
    private func take(
        _ replica: ReplicaID, of job: JobID, after sequence: UInt64, from backup: Store,
        believing isOwn: (JournalAuthor) -> Bool, counting transforms: inout UInt64
    ) async throws -> RestoreOutcome.LeftOut.Reason? {
        var next = sequence + 1
        var isRenewed = false
        while true {
            let found: JournalSegment?
            do {
                found = try await backup.segment(
                    of: replica, job: job, from: next, maximumBytes: JournalSegment.usualBytes)
            } catch { return .damaged }
            // The backup says that there is more, and holds nothing of it.
            guard let run = found else { return next == sequence + 1 ? .damaged : nil }
            switch await takeRestored(ServerRun(segment: run, job: job), believing: isOwn) {
            case .stored:
                transforms += run.head.sequence - next + 1
                next = run.head.sequence + 1
            case .duplicate: next = run.head.sequence + 1
            // The store was set back, and is another replica by now.
            case .ownFuture where !isRenewed: isRenewed = true
            // It goes on from what is held, and does not lead to what was signed; or something was written here meanwhile.
            case .forked(let known): return known.sequence + 1 == next ? .damaged : nil
            case .ownFuture: return .forked
            case .unvouched: return .unvouched
            case .gap, .malformed, .forged: return .damaged
            case .failed: throw RestoreFailure()
            }
        }
    }

    private func takeRestored(_ run: ServerRun, believing isOwn: (JournalAuthor) -> Bool) async -> IngestResult {
        guard let author = run.segment.author, isOwn(author) else { return await ingest(run) }
        return await ingestVouched(run)
    }

    /// Puts a journal together that has two contents: the branch with the smaller hash stays, as between peers, and whoever holds the
    /// other one issues again what only that has.
    private func join(
        _ replica: ReplicaID, of job: JobID, after keep: UInt64, by comparison: BackupComparison
    ) async throws -> RestoreOutcome.LeftOut.Reason? {
        guard replica != .channel else { return .serversWord }
        let backup = comparison.backup
        guard let there = try? await backup.boundary(of: replica, job: job, at: keep + 1) else { return .damaged }
        guard let here = try await store.boundary(of: replica, job: job, at: keep + 1) else { return .forked }
        if there.changeHash < here.changeHash {
            let branch = try? await backup.segment(
                of: replica, job: job, from: keep + 1, maximumBytes: JournalSegment.usualBytes)
            guard let branch else { return .damaged }
            await adopt(branch, job: job, after: keep, from: nil)
        } else {
            let branch = try await store.segment(
                of: replica, job: job, from: keep + 1, maximumBytes: JournalSegment.usualBytes)
            guard let branch else { return .forked }
            var generator = machine.generator
            do {
                // Together with all that is held here: what was issued again by an earlier restore is not issued twice.
                try await copy(job, to: backup, without: replica)
                _ = try await backup.adoptBranch(branch, job: job, after: keep, now: receiveTime, using: &generator)
            } catch let error as StoreError where error.code == .diskFull {
                throw error
            } catch {
                logger.warning("a backup cannot take what stays of a journal", metadata: ["error": "\(error)"])
                return .forked
            }
        }
        let isJoined = try await comparison.job(job).journals.allSatisfy {
            $0.replica != replica || !$0.standing.isForked
        }
        return isJoined ? nil : .forked
    }

    private func copy(_ job: JobID, to backup: Store, without replica: ReplicaID) async throws {
        let held = try await backup.vector(of: job)
        for entry in try await store.vector(of: job).entries where entry.replica != replica {
            var next = held[entry.replica].sequence + 1
            while let run = try await store.segment(
                of: entry.replica, job: job, from: next, maximumBytes: JournalSegment.usualBytes)
            {
                _ = try await backup.ingest(run, job: job, now: receiveTime)
                next = run.head.sequence + 1
            }
        }
    }
}
