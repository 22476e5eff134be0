import CRDT
import Logging
import Replication
import ServerChannel
import Storage

/// The journals of one job, until both sides hold the same: carries out what a `ServerSyncSession` says.
extension Gateway {
    private static let uploadBytes = 640 << 10

    /// Of a job that this laptop is not on nobody says when something becomes of its journals: that another branch came from
    /// elsewhere, and stays (rule R9). Its own work would be nowhere but here.
    ///
    /// - Throws: what concerns the server as a whole. Where it fails at one of them the others have their turn.
    func lookAgain() async throws {
        for job in looks.begin(now: now) {
            do { try await carryOut(ServerSyncSession(looksAgain: true), of: job) } catch let error as RoundFailure
                where error.failure == .unhealthy
            {
                logger.info(
                    "the server could not be asked again about a job",
                    metadata: ["job": "\(job)", "reason": "\(error)"])
            }
        }
    }

    /// A problem of one job is logged; what concerns the server as a whole is thrown.
    func synchronise(_ job: JobID) async throws {
        try await carryOut(ServerSyncSession(), of: job)
    }

    /// Brings one author's journal, because a request needs what is in it.
    func bring(_ wanted: JournalPlace) async {
        do {
            try await carryOut(ServerSyncSession(only: wanted.replica), of: wanted.job)
        } catch {
            logger.info(
                "a journal could not be brought to the server",
                metadata: ["job": "\(wanted.job)", "replica": "\(wanted.replica)", "error": "\(error)"])
        }
    }

    /// Brings everything of a job, because a request is about its items.
    ///
    /// - Returns: what kept the server from having it, so that the request has to wait; nil when it has all that it takes.
    func bringAll(of job: JobID) async -> RoundFailure? {
        do {
            try await synchronise(job)
            return nil
        } catch {
            logger.info("a job could not be brought to the server", metadata: ["job": "\(job)", "error": "\(error)"])
            return error as? RoundFailure ?? RoundFailure(failure: .unhealthy, state: .unhealthy("\(error)"))
        }
    }

    private func carryOut(_ start: ServerSyncSession, of job: JobID) async throws {
        if isAssignedApart(job) {
            do { try await exchangeAssignments(of: job) } catch let problem as ServerProblem {
                return log(problem, of: job)
            }
        }
        var session = start
        var shown = JobHoldings()
        // What an answer tells takes its place.
        let former = held.fingerprints[job]
        var directive = session.begin()
        while !Task.isCancelled {
            switch directive {
            case .compare:
                let here = await replicator.holdings(of: job)
                let server: JobHoldings
                do { server = try await serverHoldings(of: job) } catch let problem as ServerProblem {
                    return log(problem, of: job)
                }
                shown = here
                directive = session.onVectors(here: here, server: server)
                if session.isServerBehind { await noteServer(isBehind: true, in: job) }
            case .takeRemoval(let removal):
                directive = session.onRemoval(await replicator.takeRemoval(removal, of: job))
            case .bringRemoval(let removal):
                directive = session.onRemoval(try await bring(removal, of: job))
            case .fetch(let place), .fetchBranch(let place):
                do {
                    directive = session.onFetched(try await fetch(JournalPlace(job: job, place)))
                } catch let problem as ServerProblem {
                    log(problem, of: job)
                    directive = session.onFetched([])
                }
            case .take(let segment):
                directive = session.onTaken(await replicator.ingest(ServerRun(segment: segment, job: job)))
            case .expose: directive = session.onExposed(await replicator.exposeToServer())
            case .load(let place): directive = session.onLoaded(await runs(from: JournalPlace(job: job, place)))
            case .upload(let runs):
                switch try await upload(runs, to: job) {
                case .success(let held): directive = session.onUploaded(held)
                case .failure(let refusal): directive = session.onRefused(refusal)
                }
            case .giveWay(let branch, let agreed):
                await replicator.giveWay(to: ServerRun(segment: branch, job: job), after: agreed)
                directive = session.onGaveWay()
            case .finished(let ending):
                // It says no more of what it holds: what was brought, or refused, is not brought again before something has changed here.
                // Who has looked again has brought nothing but the own: the rest counts as brought only if it did before.
                let isBrought = !session.looksAgain || former == shown.vector.fingerprint
                if session.isOwnOnly, session.isWhole, !session.wasWithheld, isBrought {
                    held.note(shown.vector, of: job)
                }
                if session.isWhole {
                    let isChanged = !session.looksAgain || ending == .unfinished
                    looks.note(job, isOwnOnly: session.isOwnOnly, isChanged: isChanged, now: now)
                }
                // And this laptop may not have heard that it is not on the job.
                if session.isOwnOnly { try await exchangeAssignments(of: job) }
                if session.isWhole { await noteServer(isBehind: session.isServerBehind, in: job) }
                if session.hasGivenBack {
                    logger.notice("the server has taken its own words back", metadata: ["job": "\(job)"])
                }
                return
            }
        }
    }

    private func log(_ problem: ServerProblem, of job: JobID) {
        logger.warning(
            "a job could not be settled with the server",
            metadata: ["job": "\(job)", "status": "\(problem.status)", "reason": "\(problem.sentence)"])
    }

    // MARK: The exchanges

    private func serverHoldings(of job: JobID) async throws -> JobHoldings {
        do {
            let holdings = try await server.holdings(of: job).get()
            held.note(holdings.vector, of: job)
            return holdings
        } catch let problem as ServerProblem where problem.code == .unknownJob {
            held.note(VersionVector(), of: job)
            // Of a job that this laptop must not be told of it says the same as of one that there is not.
            var nothing = JobHoldings()
            nothing.isOwnOnly = !(assignments?.receives(job) ?? true)
            return nothing
        }
    }

    /// - Returns: whether the server has taken it.
    private func bring(_ removal: JobRemoval, of job: JobID) async throws -> Bool {
        do {
            held.note(try await server.remove(job, removal).get().vector, of: job)
            return true
        } catch let problem as ServerProblem {
            log(problem, of: job)
            return false
        }
    }

    func fetch(_ place: JournalPlace) async throws -> [JournalSegment] {
        let reply =
            place.replica == .channel
            ? await server.channel(of: place.job, after: place.after) : await server.journal(from: place)
        return try reply.get().segments.filter { $0.replica == place.replica }
    }

    /// - Returns: what the server holds then, or why it did not take them.
    private func upload(
        _ runs: [JournalSegment], to job: JobID
    ) async throws -> Result<JobHoldings, ServerSyncSession.Refusal> {
        do {
            let holdings = try await server.upload(runs, to: job).get()
            held.note(holdings.vector, of: job)
            return .success(holdings)
        } catch let problem as ServerProblem {
            switch problem.code {
            case .journalGap: return .failure(.gap(held: problem.problem?.sequence))
            case .journalForked: return .failure(.forked(agreed: problem.problem?.sequence))
            case .channelUpload: return .failure(.ownJournal)
            default:
                log(problem, of: job)
                return .failure(.other)
            }
        }
    }

    /// As much as one upload takes; none at the journal's end.
    private func runs(from place: JournalPlace) async -> [JournalSegment] {
        let runs = try? await store.runs(
            of: place.replica, job: place.job, from: place.after + 1, sufficientBytes: Self.uploadBytes,
            limit: ChannelLimits.segments)
        return runs ?? []
    }
}

extension JournalPlace {
    fileprivate init(job: JobID, _ place: ServerSyncSession.Place) {
        self.init(job: job, replica: place.replica, after: place.after)
    }
}
