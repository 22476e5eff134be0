import CRDT
import Outbox
import Replication
import ServerChannel
import Storage

/// One request on its way to the server, and what comes back.
extension OutboxDriver {
    func send(_ entry: OutboxEntry, attempt: Int) {
        guard let server else { return }
        let needsItems = MutationKinds.all[entry.request.kind]?.needsItems ?? false
        let task = host.begin {
            if needsItems, let failure = await self.bringAll?(entry.job) {
                return await self.replied(
                    Reply(
                        job: entry.job, token: entry.token, attempt: attempt, reply: failure.forOutbox, decision: nil))
            }
            let known = await self.replicator.holdings(of: entry.job).vector[.channel].sequence
            let delivery = Delivery(request: entry.request, job: entry.job, knownChannel: known)
            let reply = await server.deliver(delivery)
            var decided: MutationDecision?
            if case .answer(let decision) = reply { decided = decision }
            await self.replied(
                Reply(
                    job: entry.job, token: entry.token, attempt: attempt, reply: reply.forOutbox, decision: decided))
        }
        deliveries[entry.token] = (attempt, task)
    }

    private struct Reply: Sendable {
        let job: JobID
        let token: MutationToken
        let attempt: Int
        let reply: OutboxMachine.Reply
        /// With what the server published meanwhile.
        let decision: MutationDecision?
    }

    private func replied(_ answer: Reply) async {
        guard let decision = answer.decision else { return settle(answer, outcomes: []) }
        await inTurn { await self.confirm(answer, decision) }
    }

    /// What the server has published comes with its answer, and is made durable first: what is shown changes once, and one write
    /// settles the request and begins the next.
    private func confirm(_ answer: Reply, _ decision: MutationDecision) async {
        var outcomes: [Outcome] = []
        for segment in decision.channel.segments {
            let run = ServerRun(segment: segment, job: answer.job)
            let told = segment.outcomes
            if await replicator.ingest(run, isKnownToOutbox: told != nil) == .stored { outcomes += told ?? [] }
        }
        // Of a job that has ended the server's word may have gone with it: then nothing but the answer says what came of it.
        if await replicator.holdings(of: answer.job).removal != nil { outcomes.append(decision.outcome) }
        settle(answer, outcomes: outcomes)
    }

    private func settle(_ answer: Reply, outcomes: [Outcome]) {
        if deliveries[answer.token]?.attempt == answer.attempt { deliveries[answer.token] = nil }
        var directives = machine.onReply(
            answer.token, attempt: answer.attempt, answer.reply, now: now, using: &generator)
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
