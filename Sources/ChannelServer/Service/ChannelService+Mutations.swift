import Authorship
import CRDT
import Logging
import Outbox
import ServerChannel
import Storage

/// Requests to change what the server owns.
extension ChannelService {
    /// Decides them in their order, durably and together, and stops before the first that it cannot decide.
    ///
    /// - Throws: `ChannelProblem` when that is the very first one; then nothing is decided.
    func decide(_ deliveries: [Delivery], by access: JobAccess) async throws -> Decided {
        guard !deliveries.isEmpty else {
            throw ChannelProblem(.invalidRequest, "'mutations' is empty; give one at least.")
        }
        guard deliveries.count <= ChannelLimits.mutations else {
            throw ChannelProblem(
                .tooLarge,
                "These are more than \(ChannelLimits.mutations) mutations; send them one part after the other.")
        }
        var hidden: Set<JobID> = []
        for job in Set(deliveries.map(\.job)) where try await !mayReceive(job, access) { hidden.insert(job) }
        var decidable: [Delivery] = []
        var rejecting: [MutationToken: String] = [:]
        for delivery in deliveries {
            do {
                try checkThatItDecides(delivery)
                rejecting[delivery.request.token] = try await identity.objection(to: delivery)
            } catch let problem as ChannelProblem {
                guard !decidable.isEmpty else { throw problem }
                break
            }
            decidable.append(hidden.contains(delivery.job) ? delivery.withoutChannel : delivery)
        }
        let decisions = try await store.decide(decidable, now: { now.received }, rejecting: rejecting)
        if decisions.made.isEmpty, let obstacle = decisions.obstacle { throw Self.problem(obstacle) }
        for (delivery, one) in zip(decidable, decisions.made) where one.commit != nil {
            tell(one.outcome, of: delivery)
        }
        var told: [Delivery] = []
        for delivery in decidable.prefix(decisions.made.count) where try await mayReceive(delivery.job, access) {
            told.append(delivery)
        }
        let runs = try await store.channelRuns(for: told, limit: ChannelLimits.entries)
        // Why something was refused says how the job stands; that who asked is not on it does not.
        return Decided(
            outcomes: zip(decidable, decisions.made).map { delivery, made in
                let isOfAuthor = rejecting[delivery.request.token] == made.outcome.reason
                return hidden.contains(delivery.job) && !isOfAuthor ? made.outcome.withoutReason : made.outcome
            },
            channels: runs.map { (job: $0.job, extract: ChannelExtract(run: $0.run)) })
    }

    private func checkThatItDecides(_ delivery: Delivery) throws(ChannelProblem) {
        try checkThatItDecides(delivery.job)
        // A newer server may know it: what people asked for is not refused for good.
        guard MutationKinds.all[delivery.request.kind] != nil else {
            throw ChannelProblem(
                .unknownKind, "This server does not know mutations of the kind '\(delivery.request.kind)'; update it.")
        }
    }

    private static func problem(_ obstacle: DecisionObstacle) -> ChannelProblem {
        switch obstacle {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(
                .predecessorMissing, "The request before this one in its lane is not decided; deliver \(token) first.")
            problem.token = token.description
            return problem
        case .behind(let head): return behind(head)
        case .tokenReused:
            return ChannelProblem(.keyReused, "This token was used for another request; ask with a new one.")
        }
    }

    func withdraw(_ token: MutationToken, job: JobID, by access: JobAccess) async throws -> Outcome {
        try checkThatItWrites(access)
        try await check(job, for: access)
        try checkThatItDecides(job)
        let (outcome, commit) = try await store.withdraw(token, job: job, now: now.received)
        if commit != nil { hub.changed(job) }
        return outcome
    }

    func outcome(of token: MutationToken, job: JobID) async throws -> Outcome {
        // Of a job that there is not the same is said as of one that the caller must not know of.
        _ = try await store.vector(of: job)
        guard let outcome = try await store.outcome(of: token, job: job) else {
            throw ChannelProblem(.unknownRequest, "The server has not decided a request of that token.")
        }
        return outcome
    }

    /// - Throws: `ChannelProblem` while a part of the channel may be missing.
    func checkThatItDecides(_ job: JobID) throws(ChannelProblem) {
        guard !isRecovering else {
            throw ChannelProblem(
                .unavailable,
                "The server takes back what it had said before it was set back; it decides nothing meanwhile.")
        }
        guard !setBack.contains(job) else {
            throw ChannelProblem(
                .channelBehind, "This server was set back; its people have to serve with --recover before it goes on.")
        }
    }

    private func tell(_ outcome: Outcome, of delivery: Delivery) {
        hub.changed(delivery.job)
        logger.info(
            "request decided",
            metadata: [
                "job": "\(delivery.job)", "token": "\(outcome.token)", "kind": "\(delivery.request.kind)",
                "verdict": "\(outcome.verdict)", "reason": "\(outcome.reason)",
                "author": "\(DeviceID(ofKey: delivery.request.signature.key).short)",
            ])
    }
}

extension Delivery {
    /// Of a job that the sender may not be told of it does not hear how far the channel goes, by claiming to hold more.
    fileprivate var withoutChannel: Delivery {
        Delivery(request: request, job: job, knownChannel: 0, author: author)
    }
}

extension Outcome {
    /// What came of it, and no more, for who may not be told of the job.
    fileprivate var withoutReason: Outcome { Outcome(token: token, verdict: verdict, reason: "") }
}
