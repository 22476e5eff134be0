import CRDT
import Logging
import Replication
import Storage

/// What peers send becomes durable: all that has arrived in one flush.
extension Replicator {
    /// Begins to store what waits, unless that is under way.
    func ingestNext() {
        let batch = ingestQueue.nextBatch()
        guard !batch.isEmpty else { return }
        machine.begin { await self.ingest(batch) }
    }

    /// Returns when a link may be read on.
    func waitForRoom(_ link: LinkID) async {
        while ingestQueue.isFull(link) {
            await withCheckedContinuation { heldReaders[link] = $0 }
        }
    }

    private func ingest(_ batch: [IngestQueue.Run]) async {
        let outcomes = await outcomes(of: batch)
        // A compiler's feature once let this go on off the actor (ARCHITECTURE.md, "Threads"): better to stop than to race.
        preconditionIsolated()
        ingestQueue.finished(batch)
        var directives: [Directive] = []
        for (run, result) in zip(batch, outcomes) {
            directives += mesh.onPersisted(run.segment, job: run.job, from: run.link, outcome: result.outcome, now: now)
            if result.outcome == .stored {
                observer.jobAdvanced(run.job, vector: mesh.vector(of: run.job), applied: result.applied)
            }
        }
        // The disk is not left idle while it is told what is durable, and the mesh hears of one batch after the other.
        ingestNext()
        await perform(directives)
        for (run, result) in zip(batch, outcomes) {
            if let ended = result.ended { await jobEnded(run.job, ended) }
        }
        for link in heldReaders.keys.sorted() where !ingestQueue.isFull(link) {
            heldReaders.removeValue(forKey: link)?.resume()
        }
    }

    /// What became of a run.
    private struct Ingested: Sendable {
        let outcome: PersistOutcome
        var applied: [AppliedChange] = []
        /// The job has ended with it.
        var ended: RemovalOutcome?
    }

    private func outcomes(of batch: [IngestQueue.Run]) async -> [Ingested] {
        let runs = batch.map { IncomingRun(job: $0.job, segment: $0.segment) }
        do {
            return try await store.ingest(runs, now: receiveTime).map(outcome)
        } catch {
            logger.error("peers' changes could not be stored", metadata: ["error": "\(error)"])
        }
        guard runs.count > 1 else { return [Ingested(outcome: .failed)] }
        // One of them may be to blame: the others are not held up by it.
        var outcomes: [Ingested] = []
        for run in runs {
            let alone = try? await store.ingest([run], now: receiveTime)
            outcomes.append(alone?.first.map(outcome) ?? Ingested(outcome: .failed))
        }
        return outcomes
    }

    private func outcome(of result: Result<IngestOutcome, CodecError>) -> Ingested {
        switch result {
        case .success(.stored(_, let changes)): Ingested(outcome: .stored, applied: changes)
        case .success(.ended(let ended)): Ingested(outcome: .stored, ended: ended)
        case .success(.duplicate(let head)), .success(.gap(let head)): Ingested(outcome: .outdated(head))
        case .success(.forked): Ingested(outcome: .forked)
        case .success(.ownFuture): Ingested(outcome: .ownFuture)
        case .failure(let error): Ingested(outcome: .malformed("\(error)"))
        }
    }
}
