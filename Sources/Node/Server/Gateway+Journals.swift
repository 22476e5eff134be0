import CRDT
import Logging
import Replication
import ServerChannel
import Storage

/// The journals of one job, until both sides hold the same.
extension Gateway {
    /// How often both sides are compared in one round: whoever still writes is met in the next.
    private static let comparisons = 3
    private static let runBytes = 256 << 10
    private static let uploadBytes = 640 << 10

    /// A problem of one job is logged; what concerns the server as a whole is thrown.
    func settle(_ job: JobID) async throws {
        do {
            for _ in 0..<Self.comparisons {
                let server = try await serverVector(of: job)
                held[job] = server.fingerprint
                let errands = JournalErrands(here: await replicator.vector(of: job), server: server)
                if errands.isServerBehind { serverIsBehind(job) }
                if errands.isEmpty { return }
                try await run(errands, of: job)
            }
        } catch let problem as ServerProblem {
            logger.warning(
                "a job could not be settled with the server",
                metadata: ["job": "\(job)", "status": "\(problem.status)", "reason": "\(problem.sentence)"])
        }
    }

    /// Brings one author's journal, because a request needs what is in it.
    func bring(_ author: ReplicaID, of job: JobID) async {
        do {
            let server = try await serverVector(of: job)
            try await upload(author, of: job, after: server[author].sequence)
        } catch {
            logger.info(
                "a journal could not be brought to the server", metadata: ["job": "\(job)", "replica": "\(author)"])
        }
    }

    private func serverVector(of job: JobID) async throws -> VersionVector {
        do {
            return try await client.vector(of: job).get()
        } catch let problem as ServerProblem where problem.code == .unknownJob {
            return VersionVector()
        }
    }

    private func run(_ errands: JournalErrands, of job: JobID) async throws {
        for errand in errands.fetches { try await fetch(errand, of: job) }
        guard await replicator.exposeToServer() else { return }
        for errand in errands.uploads { try await upload(errand.replica, of: job, after: errand.after) }
        for replica in errands.forks { try await upload(replica, of: job, after: 0) }
    }

    // MARK: Down

    private func fetch(_ errand: JournalErrands.Errand, of job: JobID) async throws {
        var after = errand.after
        while !Task.isCancelled {
            let reply =
                errand.replica == .channel
                ? await client.channel(of: job, after: after)
                : await client.journal(of: errand.replica, job: job, after: after)
            let segments = try reply.get().segments.filter { $0.replica == errand.replica }
            guard let last = segments.last, last.head.sequence > after else { return }
            for segment in segments {
                switch await replicator.take(ServerRun(segment: segment, job: job)) {
                case .stored, .duplicate: break
                case .gap, .forked, .failed: return
                }
            }
            after = last.head.sequence
        }
    }

    // MARK: Up

    private func upload(_ replica: ReplicaID, of job: JobID, after start: UInt64) async throws {
        var after = start
        var isFromBeginning = start == 0
        while let runs = await runs(of: replica, of: job, after: after), let last = runs.last, !Task.isCancelled {
            do {
                held[job] = try await client.upload(runs, to: job).get().fingerprint
                after = last.head.sequence
            } catch let problem as ServerProblem where problem.code == .journalGap {
                guard let reached = problem.problem?.sequence, reached < after else { throw problem }
                after = reached
            } catch let problem as ServerProblem where problem.code == .journalForked {
                if let agreed = problem.problem?.sequence {
                    return try await giveWay(replica, of: job, after: agreed)
                }
                guard !isFromBeginning else { throw problem }
                isFromBeginning = true
                after = 0
            }
        }
    }

    /// As much as one upload takes; nil at the journal's end.
    private func runs(of replica: ReplicaID, of job: JobID, after: UInt64) async -> [JournalSegment]? {
        var runs: [JournalSegment] = []
        var next = after + 1
        var bytes = 0
        while bytes < Self.uploadBytes, runs.count < ChannelLimits.segments,
            let run = try? await store.segment(of: replica, job: job, from: next, maximumBytes: Self.runBytes)
        {
            if !runs.isEmpty, bytes + run.bytes.count > Self.uploadBytes + Self.runBytes { break }
            runs.append(run)
            bytes += run.bytes.count
            next = run.head.sequence + 1
        }
        return runs.isEmpty ? nil : runs
    }

    /// The server's branch of a forked journal stays.
    private func giveWay(_ replica: ReplicaID, of job: JobID, after agreed: UInt64) async throws {
        let branch = try await client.journal(of: replica, job: job, after: agreed).get().segments
        guard let run = branch.first(where: { $0.replica == replica }) else { return }
        await replicator.giveWay(to: ServerRun(segment: run, job: job), after: agreed)
    }
}
