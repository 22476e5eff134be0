import Authorship
import CRDT
import Outbox
import ServerChannel
import Storage

/// What it makes of requests: as the program around the store does.
extension SimulatedServer {
    func decide(_ deliveries: [Delivery], by device: DeviceID) async throws -> MutationDecisions {
        let store = store
        // Now and then it stops before it has decided all.
        let most = deliveries.count > 1 && !isCalm && generator.oneIn(3) ? deliveries.count - 1 : deliveries.count
        var decidable: [Delivery] = []
        for delivery in deliveries.prefix(most) {
            let head = (try? await store.vector(of: delivery.job))?[.channel].sequence ?? 0
            let isShownBehind = condition == .setBack && delivery.knownChannel ?? 0 > head
            guard condition == .well || isShownBehind else { break }
            guard delivery.request.isSigned(for: delivery.job) else {
                violation = Violation("R8", "a laptop delivers a request that its author has not signed.")
                break
            }
            decidable.append(delivery)
        }
        guard !decidable.isEmpty else { throw ChannelProblem(.unavailable, "Not now.") }
        let isSetBack = condition != .well
        let decisions = try await store.decide(decidable, now: { self.now })
        if decisions.made.isEmpty, let obstacle = decisions.obstacle { throw Self.problem(obstacle) }
        for (delivery, one) in zip(decidable, decisions.made) where one.commit != nil {
            if isSetBack {
                violation = Violation("R8", "the server decides by a state that is not the last, as who asks shows.")
            }
            if store === self.store { note(delivery.request.token, of: delivery.job) }
        }
        if deliveries.count > 1 { together += 1 }
        if decisions.made.count < deliveries.count { inPart += 1 }
        let runs = try await store.channelRuns(
            for: decidable.prefix(decisions.made.count).filter { mayReceive($0.job, device) }, limit: 100)
        return MutationDecisions(
            outcomes: decisions.made.map(\.outcome),
            channels: runs.map { job, run in
                let news = SegmentList(segments: [run.segment].compactMap(\.self), head: run.head)
                return MutationDecisions.ChannelNews(job: job, news: news)
            })
    }

    private static func problem(_ obstacle: DecisionObstacle) -> ChannelProblem {
        switch obstacle {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(.predecessorMissing, "Not its turn.")
            problem.token = token.description
            return problem
        case .behind: return ChannelProblem(.channelBehind, "It was set back.")
        case .tokenReused: return ChannelProblem(.keyReused, "Another request.")
        }
    }
}
