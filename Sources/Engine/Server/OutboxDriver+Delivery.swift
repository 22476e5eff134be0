import Authorship
import CRDT
import CoreMetrics
import Logging
import Outbox
import Replication
import ServerChannel
import Storage

/// Requests on their way to the server, and what comes back.
extension OutboxDriver {
    func send(_ entries: [OutboxEntry], in exchange: OutboxMachine.ExchangeNumber) {
        guard let server else { return }
        deliveries[exchange] = host.begin {
            for job in Set(entries.filter(\.needsItems).map(\.job)).sorted() {
                if let failure = await self.bringAll?(job) {
                    return await self.replied(Reply(exchange: exchange, reply: failure.forOutbox, decisions: nil))
                }
            }
            let jobs = Set(entries.map(\.job))
            if let refusal = await self.tellAssignments?(jobs.sorted()) {
                return await self.replied(Reply(exchange: exchange, reply: refusal, decisions: nil))
            }
            var known: [JobID: UInt64] = [:]
            for job in jobs {
                known[job] = await self.replicator.holdings(of: job).vector[.channel].sequence
            }
            let authors = await self.authors(of: entries)
            let reply = await server.deliver(
                entries.map { entry in
                    Delivery(
                        request: entry.request, job: entry.job, knownChannel: known[entry.job] ?? 0,
                        author: entry.request.authorName.flatMap { authors[$0] })
                })
            var decisions: MutationDecisions?
            if case .answer(let told) = reply {
                decisions = told
                self.delivered.increment(by: entries.count)
            }
            let asked = Dictionary(entries.map { ($0.token, $0.job) }, uniquingKeysWith: { first, _ in first })
            await self.replied(Reply(exchange: exchange, reply: reply.forOutbox, decisions: decisions, jobs: asked))
        }
    }

    /// With their certificates: the server may not have heard of who asks.
    private func authors(of entries: [OutboxEntry]) async -> [ReplicaID: JournalAuthor] {
        let names = Set(entries.compactMap(\.request.authorName))
        do { return try await store.authors(named: names) } catch {
            logger.error("whose requests these are cannot be read", metadata: ["error": "\(error)"])
            return [:]
        }
    }

    private struct Reply: Sendable {
        let exchange: OutboxMachine.ExchangeNumber
        let reply: OutboxMachine.Reply
        /// With what the server published meanwhile.
        let decisions: MutationDecisions?
        var jobs: [MutationToken: JobID] = [:]
    }

    private func replied(_ answer: Reply) async {
        guard let decisions = answer.decisions else { return settle(answer, outcomes: []) }
        await inTurn { await self.confirm(answer, decisions) }
    }

    /// What the server has published comes with its answer, and is made durable first, all of it in one write: what is shown
    /// changes once, and one more write settles the requests and begins the next.
    private func confirm(_ answer: Reply, _ decisions: MutationDecisions) async {
        let runs = decisions.channels.flatMap { channel in
            channel.news.segments.map { ServerRun(segment: $0, job: channel.job, outcomes: $0.outcomes) }
        }
        var outcomes: [Outcome] = []
        for (run, result) in zip(runs, await replicator.ingest(runs)) where result == .stored {
            outcomes += run.outcomes ?? []
        }
        // Of a job that has ended the server's word may have gone with it: then nothing but the answer says what came of it.
        for outcome in decisions.outcomes {
            guard let job = answer.jobs[outcome.token], await replicator.holdings(of: job).removal != nil else {
                continue
            }
            outcomes.append(outcome)
        }
        settle(answer, outcomes: outcomes)
    }

    private func settle(_ answer: Reply, outcomes: [Outcome]) {
        deliveries[answer.exchange] = nil
        var directives = machine.onReply(answer.exchange, answer.reply, now: now, using: &generator)
        for outcome in outcomes { directives += machine.onOutcome(outcome, now: now, using: &generator) }
        enqueue(directives)
    }

    func bringJournal(at place: JournalPlace) {
        guard let bring else { return }
        host.begin {
            await bring(place)
            await self.brought(place)
        }
    }

    private func brought(_ place: JournalPlace) {
        enqueue(machine.onJournalBrought(place.job, place.replica, now: now, using: &generator))
    }
}

extension JournalSegment {
    /// What the server has decided, as it says itself in its own journal; nil if more is in there that an outbox looks for.
    fileprivate var outcomes: [Outcome]? {
        guard replica == .channel, let changes = try? ChangeCodec.decodeAll(bytes) else { return nil }
        var outcomes: [Outcome] = []
        for change in changes {
            // What somebody else has issued again is not the server's word.
            guard change.origin == nil else { return nil }
            for operation in change.operations {
                switch operation {
                case .outcome(let outcome): outcomes.append(outcome)
                case .request, .withdraw: return nil
                default: break
                }
            }
        }
        return outcomes
    }
}

extension OutboxEntry {
    /// The server looks at the job's items for it.
    fileprivate var needsItems: Bool { MutationKinds.all[request.kind]?.needsItems ?? false }
}
