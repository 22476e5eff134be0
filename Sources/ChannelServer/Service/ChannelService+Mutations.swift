import CRDT
import Logging
import Outbox
import ServerChannel
import Storage

/// Requests to change what the server owns.
extension ChannelService {
    func decide(_ delivery: Delivery) async throws -> Decided {
        // Added up before the transaction: a job of 100,000 items would hold all others up.
        try checkThatItDecides(delivery.job)
        // A newer server may know it: what people asked for is not refused for good.
        guard MutationKinds.all[delivery.request.kind] != nil else {
            throw ChannelProblem(
                .unknownKind, "This server does not know mutations of the kind '\(delivery.request.kind)'; update it.")
        }
        let digest = try await serverDigest(for: delivery)
        let request = delivery.request
        let decision = try await store.decide(
            request, job: delivery.job, knowing: delivery.knownChannel ?? 0, now: now.received
        ) { published in
            MutationEvaluation(of: request, on: JobStanding(values: published, digest: digest))
        }
        switch decision {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(
                .predecessorMissing, "The request before this one in its lane is not decided; deliver \(token) first.")
            problem.token = token.description
            throw problem
        case .behind(let head): throw Self.behind(head)
        case .tokenReused:
            throw ChannelProblem(.keyReused, "This key was used for another request; ask with a new one.")
        case .decided(let outcome, let commit):
            if commit != nil { tell(outcome, of: delivery) }
            return Decided(outcome: outcome, channel: try await extract(for: delivery))
        }
    }

    func withdraw(_ token: MutationToken, job: JobID) async throws -> Outcome {
        try checkThatItDecides(job)
        let (outcome, commit) = try await store.withdraw(token, job: job, now: now.received)
        if commit != nil { hub.changed(job) }
        return outcome
    }

    func outcome(of token: MutationToken, job: JobID) async throws -> Outcome {
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
            ])
    }

    private func extract(for delivery: Delivery) async throws -> ChannelExtract {
        let known = delivery.knownChannel ?? .max
        let run = try await store.channelRun(of: delivery.job, after: known, limit: ChannelLimits.entries)
        return ChannelExtract(run: run)
    }

    private func serverDigest(for delivery: Delivery) async throws -> String? {
        guard MutationKinds.all[delivery.request.kind]?.needsItems == true else { return nil }
        do { return try await store.digest(of: delivery.job).text } catch let error as StoreError
            where error.code == .unknownJob
        { return nil }
    }
}
