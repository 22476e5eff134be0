import Authorship
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
        let outcomes = await outcomes(of: batch.map { IncomingRun(job: $0.job, segment: $0.segment) })
        // A compiler's feature once let this go on off the actor (ARCHITECTURE.md, "Threads"): better to stop than to race.
        preconditionIsolated()
        ingestQueue.finished(batch)
        var directives = [UpkeepDirective](noteRenewal())
        for (run, ingested) in zip(batch, outcomes) {
            if case .forged(let reason) = ingested.result { noteForgery(by: run.link, reason, of: run.job) }
            noteAuthor(of: ingested.news)
            directives += mesh.onPersisted(
                run.segment, job: run.job, from: run.link, result: ingested.result, news: ingested.news, now: now)
            if ingested.result == .stored {
                counters.tookIn(ingested.news ?? run.segment)
                remotes[run.link]?.heard.forget(run.segment)
                advanced(run.job, applied: ingested.applied, concernsOutbox: ingested.hasStatements)
            }
        }
        departed = departed.filter { ingestQueue.holds($0.key) }
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

    /// - Returns: what became of each, in their order.
    func outcomes(of runs: [IncomingRun]) async -> [Ingested] {
        await taken(runs) { runs in
            do {
                return try await self.store.ingest(runs, now: self.receiveTime)
            } catch {
                self.logger.error("peers' changes could not be stored", metadata: ["error": "\(error)"])
            }
            return await self.storedOneByOne(runs)
        }
    }

    /// Takes in what the fleet vouches for.
    ///
    /// - Returns: what became of each run, in their order.
    func taken(
        _ runs: [IncomingRun], by take: ([IncomingRun]) async throws -> [Ingested]
    ) async rethrows -> [Ingested] {
        let unvouched = await unvouched(among: runs.map(\.segment))
        guard !unvouched.isEmpty else { return try await take(runs) }
        var taken = try await take(runs.filter { !unvouched.contains($0.segment) })[...]
        return runs.map { unvouched.contains($0.segment) ? Ingested(.unvouched) : taken.popFirst() ?? .failed }
    }

    /// What nobody of the fleet has written. A run whose author nobody has told is left to the store, which refuses it.
    func unvouched(among runs: [JournalSegment]) async -> Set<JournalSegment> {
        guard let fleet else { return [] }
        var unvouched: Set<JournalSegment> = []
        for run in runs {
            // What cannot be read is judged by what comes with the run.
            let vouching = (try? await store.vouching(of: run, by: fleet.vouches)) ?? .unnamed
            switch vouching {
            case .unnamed: break
            case .vouched(let author): noteVouched(author)
            case .unvouched(let author):
                unvouched.insert(run)
                noteUnvouched(author)
            }
        }
        return unvouched
    }

    /// Whose a journal is: they may be told of it whatever job it is in.
    func noteAuthor(of run: JournalSegment?) {
        if let run, let author = run.author, run.replica != .channel { mesh.authors[run.replica] = author.device }
    }

    private func storedOneByOne(_ runs: [IncomingRun]) async -> [Ingested] {
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
