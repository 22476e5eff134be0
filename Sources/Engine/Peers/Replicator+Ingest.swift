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
        var directives = [UpkeepDirective](noteRenewal())
        for (run, ingested) in zip(batch, outcomes) {
            directives += mesh.onPersisted(run.segment, job: run.job, from: run.link, result: ingested.result, now: now)
            if ingested.result == .stored {
                advanced(run.job, applied: ingested.applied, concernsOutbox: ingested.hasStatements)
            }
        }
        // The disk is not left idle while it is told what is durable, and the mesh hears of one batch after the other.
        ingestNext()
        await perform(directives)
        for (run, ingested) in zip(batch, outcomes) {
            if let ended = ingested.ended { await jobEnded(run.job, ended) }
        }
        for link in heldReaders.keys.sorted() where !ingestQueue.isFull(link) {
            heldReaders.removeValue(forKey: link)?.resume()
        }
    }

    private func outcomes(of batch: [IngestQueue.Run]) async -> [Ingested] {
        let runs = batch.map { IncomingRun(job: $0.job, segment: $0.segment) }
        do {
            return try await store.ingest(runs, now: receiveTime)
        } catch {
            logger.error("peers' changes could not be stored", metadata: ["error": "\(error)"])
        }
        guard runs.count > 1 else { return [.failed] }
        // One of them may be to blame: the others are not held up by it.
        var outcomes: [Ingested] = []
        for run in runs {
            let alone = try? await store.ingest([run], now: receiveTime)
            outcomes.append(alone?.first ?? .failed)
        }
        return outcomes
    }
}

extension Ingested {
    fileprivate static var failed: Ingested { Ingested(.failed) }
}
