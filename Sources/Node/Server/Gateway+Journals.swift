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
                // First what is here: what a delivery brings meanwhile must not look as if the server lacked it.
                let here = await replicator.vector(of: job)
                let server = try await serverVector(of: job)
                held.note(server, of: job)
                let errands = JournalErrands(here: here, server: server)
                noteServer(isBehind: errands.isServerBehind, in: job)
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
    func bring(_ wanted: JournalPlace) async {
        do {
            let server = try await serverVector(of: wanted.job)
            var place = wanted
            place.after = server[wanted.replica].sequence
            try await upload(from: place)
        } catch {
            logger.info(
                "a journal could not be brought to the server",
                metadata: ["job": "\(wanted.job)", "replica": "\(wanted.replica)"])
        }
    }

    /// Brings everything of a job, because a request is about its items. What fails here is told by the next round.
    func bringAll(of job: JobID) async {
        do {
            try await settle(job)
        } catch {
            logger.info("a job could not be brought to the server", metadata: ["job": "\(job)", "error": "\(error)"])
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
        for errand in errands.fetches {
            try await fetch(from: JournalPlace(job: job, replica: errand.replica, after: errand.after))
        }
        if let errand = errands.channelUpload { try await giveBack(errand, of: job) }
        guard await replicator.exposeToServer() else { return }
        for errand in errands.uploads {
            try await upload(from: JournalPlace(job: job, replica: errand.replica, after: errand.after))
        }
        for replica in errands.forks { try await upload(from: JournalPlace(job: job, replica: replica)) }
    }

    // MARK: Down

    private func fetch(from start: JournalPlace) async throws {
        var place = start
        while !Task.isCancelled {
            let reply =
                place.replica == .channel
                ? await client.channel(of: place.job, after: place.after) : await client.journal(from: place)
            let segments = try reply.get().segments.filter { $0.replica == place.replica }
            guard let last = segments.last, last.head.sequence > place.after else { return }
            for segment in segments {
                switch await replicator.take(ServerRun(segment: segment, job: place.job)) {
                case .stored, .duplicate: break
                case .gap, .forked, .failed: return
                }
            }
            place.after = last.head.sequence
        }
    }

    // MARK: Up

    private func upload(from start: JournalPlace) async throws {
        var place = start
        while let runs = await runs(from: place), let last = runs.last, !Task.isCancelled {
            do {
                held.note(try await client.upload(runs, to: place.job).get(), of: place.job)
                place.after = last.head.sequence
            } catch let problem as ServerProblem where problem.code == .journalGap {
                guard let reached = problem.problem?.sequence, reached < place.after else { throw problem }
                place.after = reached
            } catch let problem as ServerProblem where problem.code == .journalForked && place.replica != .channel {
                if let agreed = problem.problem?.sequence {
                    place.after = agreed
                    return try await giveWay(from: place)
                }
                // They part before what was sent: from the beginning, then.
                guard place.after > 0 else { throw problem }
                place.after = 0
            }
        }
    }

    /// A server that was set back takes its own words from a laptop while its people have told it to, and not otherwise.
    private func giveBack(_ errand: JournalErrands.Errand, of job: JobID) async throws {
        do {
            try await upload(from: JournalPlace(job: job, replica: errand.replica, after: errand.after))
            logger.notice("the server has taken its own words back", metadata: ["job": "\(job)"])
        } catch let problem as ServerProblem where problem.code == .channelUpload {
            logger.debug("the server does not take its own words", metadata: ["job": "\(job)"])
        }
    }

    /// As much as one upload takes; nil at the journal's end.
    private func runs(from place: JournalPlace) async -> [JournalSegment]? {
        var runs: [JournalSegment] = []
        var next = place.after + 1
        var bytes = 0
        while bytes < Self.uploadBytes, runs.count < ChannelLimits.segments,
            let run = try? await store.segment(
                of: place.replica, job: place.job, from: next, maximumBytes: Self.runBytes)
        {
            if !runs.isEmpty, bytes + run.bytes.count > Self.uploadBytes + Self.runBytes { break }
            runs.append(run)
            bytes += run.bytes.count
            next = run.head.sequence + 1
        }
        return runs.isEmpty ? nil : runs
    }

    /// The server's branch of a forked journal stays.
    private func giveWay(from place: JournalPlace) async throws {
        let branch = try await client.journal(from: place).get().segments
        guard let run = branch.first(where: { $0.replica == place.replica }) else { return }
        await replicator.giveWay(to: ServerRun(segment: run, job: place.job), after: place.after)
    }
}
