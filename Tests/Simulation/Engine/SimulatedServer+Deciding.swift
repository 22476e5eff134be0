import CRDT
import Outbox
import ServerChannel
import Storage

/// What it makes of requests: as the program around the store does.
extension SimulatedServer {
    func decide(_ deliveries: [Delivery]) async throws -> MutationDecisions {
        let store = store
        // Now and then it stops before it has decided all.
        let most = deliveries.count > 1 && !isCalm && generator.oneIn(3) ? deliveries.count - 1 : deliveries.count
        var decidable: [Delivery] = []
        var digests: [JobID: String] = [:]
        for delivery in deliveries.prefix(most) {
            let head = (try? await store.vector(of: delivery.job))?[.channel].sequence ?? 0
            let isShownBehind = condition == .setBack && delivery.knownChannel ?? 0 > head
            guard condition == .well || isShownBehind else { break }
            if MutationKinds.all[delivery.request.kind]?.needsItems == true {
                digests[delivery.job] = try? await store.digest(of: delivery.job).text
            }
            decidable.append(delivery)
        }
        guard !decidable.isEmpty else { throw ChannelProblem(.unavailable, "Not now.") }
        let isSetBack = condition != .well
        let decisions = try await store.decide(
            decidable.map { DeliveredRequest(request: $0.request, job: $0.job, knownChannel: $0.knownChannel ?? 0) },
            now: now
        ) { [digests] one, published in
            MutationEvaluation(of: one.request, on: JobStanding(values: published, digest: digests[one.job]))
        }
        var outcomes: [Outcome] = []
        for (delivery, decision) in zip(decidable, decisions) {
            guard case .decided(let outcome, let commit) = decision else {
                if outcomes.isEmpty { throw Self.problem(decision) }
                break
            }
            outcomes.append(outcome)
            guard commit != nil else { continue }
            if isSetBack {
                violation = Violation("R8", "the server decides by a state that is not the last, as who asks shows.")
            }
            if store === self.store { note(delivery.request.token, of: delivery.job) }
        }
        if deliveries.count > 1 { together += 1 }
        if outcomes.count < deliveries.count { inPart += 1 }
        return MutationDecisions(
            outcomes: outcomes, channels: try await channels(for: decidable.prefix(outcomes.count), in: store))
    }

    /// What who sent them does not hold of the channels of their jobs.
    private func channels(
        for deliveries: ArraySlice<Delivery>, in store: Store
    ) async throws -> [MutationDecisions.ChannelNews] {
        var news: [MutationDecisions.ChannelNews] = []
        for job in Set(deliveries.map(\.job)).sorted() {
            let known = deliveries.first { $0.job == job }?.knownChannel ?? 0
            let run = try await store.channelRun(of: job, after: known, limit: 100)
            let list = SegmentList(segments: [run.segment].compactMap(\.self), head: run.head)
            news.append(MutationDecisions.ChannelNews(job: job, news: list))
        }
        return news
    }

    private static func problem(_ decision: Decision) -> ChannelProblem {
        switch decision {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(.predecessorMissing, "Not its turn.")
            problem.token = token.description
            return problem
        case .behind: return ChannelProblem(.channelBehind, "It was set back.")
        case .tokenReused: return ChannelProblem(.keyReused, "Another request.")
        case .decided: return ChannelProblem(.failed, "It has decided.")
        }
    }
}
