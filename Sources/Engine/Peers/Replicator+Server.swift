package import CRDT
import Logging
import Replication
import Storage

/// A run of a journal that the server sent.
struct ServerRun: Sendable {
    let segment: JournalSegment
    let job: JobID
    /// What was decided in it, where somebody tells the outbox of that; nil where it has to look for itself.
    var outcomes: [Outcome]?
}

/// What the server brings goes the way of what peers bring: into the store, then on to everybody who lacks it.
extension Replicator {
    /// Of any jobs, durably and in one write.
    ///
    /// - Returns: what became of each, in their order.
    func ingest(_ runs: [ServerRun]) async -> [IngestResult] {
        guard !runs.isEmpty else { return [] }
        let ingested: [Ingested]
        do {
            ingested = try await taken(runs.map { IncomingRun(job: $0.job, segment: $0.segment) }) {
                try await store.ingest($0, now: receiveTime)
            }
        } catch {
            logger.error("what the server sent could not be stored", metadata: ["error": "\(error)"])
            return runs.map { _ in .failed }
        }
        for (run, one) in zip(runs, ingested) { await tell(of: run, one) }
        return ingested.map(\.result)
    }

    func ingest(_ run: ServerRun) async -> IngestResult {
        await ingest([run]).first ?? .failed
    }

    /// The same of one that nobody has to vouch for.
    func ingestVouched(_ run: ServerRun) async -> IngestResult {
        do {
            let ingested = try await store.ingest(run.segment, job: run.job, now: receiveTime)
            await tell(of: run, ingested)
            return ingested.result
        } catch {
            logger.error("a run of a journal could not be stored", metadata: ["error": "\(error)"])
            return .failed
        }
    }

    private func tell(of run: ServerRun, _ ingested: Ingested) async {
        switch ingested.result {
        case .stored:
            noteAuthor(of: ingested.news)
            perform(mesh.onCommitted(ingested.news ?? run.segment, job: run.job, now: now))
            if let ended = ingested.ended {
                await jobEnded(run.job, ended)
            } else {
                advanced(
                    run.job, applied: ingested.applied, concernsOutbox: ingested.hasStatements && run.outcomes == nil)
            }
        case .ownFuture(let name):
            await renew(name, "Elsewhere there is a later part of this store's journal: the store was set back.")
        case .forged(let reason): noteForgery(by: nil, reason, of: run.job)
        case .duplicate, .gap, .forked, .malformed, .unvouched, .failed: break
        }
    }

    /// The server's branch of a forked journal stays: from `keep` on it takes the place of the own one.
    func giveWay(to run: ServerRun, after keep: UInt64) async {
        await adopt(run.segment, job: run.job, after: keep, from: nil)
    }

    /// What peers and the server are told of a job.
    package func holdings(of job: JobID) -> JobHoldings {
        JobHoldings(vector: mesh.vector(of: job), removal: mesh.removal(of: job))
    }

    /// Whether what is held as the server's word ends with that of one that this laptop's fleet has not let in, as far as was told:
    /// it came before the laptop joined.
    func holdsForeignWords(of job: JobID) async -> Bool {
        let end = mesh.vector(of: job)[.channel].sequence
        guard let fleet, end > 0,
            let run = try? await store.segment(of: .channel, job: job, from: end, maximumBytes: 1),
            let vouching = try? await store.vouching(of: run, by: fleet.vouches)
        else { return false }
        if case .vouched = vouching { return false }
        return true
    }

    /// From now on the server may get what this device writes. Only when the time is known: what has been shown keeps its
    /// stamps for good (rule R5).
    ///
    /// - Returns: false when nothing may be shown yet.
    func exposeToServer() async -> Bool {
        guard clock.now.isSynchronised else { return false }
        guard !isServerExposed else { return true }
        do {
            try await store.beginExposure()
            await untilStepIsTold()
            // A step that could not be made durable was taken back.
            guard clock.now.isSynchronised else { return false }
            isServerExposed = true
            return true
        } catch {
            logger.error("nothing can be shown to the server", metadata: ["error": "\(error)"])
            return false
        }
    }
}
