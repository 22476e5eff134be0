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
            decidable, now: now
        ) { [digests] one, published in
            MutationEvaluation(of: one.request, on: JobStanding(values: published, digest: digests[one.job]))
        }
        let decided: [(outcome: Outcome, commit: Commit?)]
        do { decided = try decisions.decided() } catch { throw Self.problem(error) }
        for (delivery, one) in zip(decidable, decided) where one.commit != nil {
            if isSetBack {
                violation = Violation("R8", "the server decides by a state that is not the last, as who asks shows.")
            }
            if store === self.store { note(delivery.request.token, of: delivery.job) }
        }
        if deliveries.count > 1 { together += 1 }
        if decided.count < deliveries.count { inPart += 1 }
        return MutationDecisions(
            outcomes: decided.map(\.outcome),
            channels: try await channels(for: decidable.prefix(decided.count), in: store))
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

    private static func problem(_ reason: Undecided) -> ChannelProblem {
        switch reason {
        case .predecessorMissing(let token):
            var problem = ChannelProblem(.predecessorMissing, "Not its turn.")
            problem.token = token.description
            return problem
        case .behind: return ChannelProblem(.channelBehind, "It was set back.")
        case .tokenReused: return ChannelProblem(.keyReused, "Another request.")
        }
    }
}
