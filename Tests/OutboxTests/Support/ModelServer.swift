import CRDT
import Outbox

/// The office as the rules describe it: one effect per token, lanes in order, everything it says in one channel per job.
struct ModelServer {
    /// One change of a channel: what came of a request together with what it published.
    struct Entry: Hashable {
        let outcome: Outcome?
        let values: [PublishedValue]
    }

    enum Answer: Hashable {
        case outcome(Outcome)
        case predecessorMissing(MutationToken)
    }

    private(set) var channels: [JobID: [Entry]] = [:]
    private(set) var standings: [JobID: JobStanding] = [:]
    private(set) var outcomes: [MutationToken: Outcome] = [:]
    /// How often each request was carried out; the requests in the order of that.
    private(set) var effects: [MutationToken: Int] = [:]
    private(set) var carriedOut: [MutationToken] = []

    mutating func deliver(_ request: MutationRequest, job: JobID) -> Answer {
        if let known = outcomes[request.token] { return .outcome(known) }
        if let after = request.after, outcomes[after] == nil { return .predecessorMissing(after) }
        var values: [PublishedValue] = []
        var outcome = Outcome(token: request.token, verdict: .accepted)
        do throws(MutationRefusal) {
            values = try MutationKinds.tested.effect(of: request, on: standings[job] ?? JobStanding())
            effects[request.token, default: 0] += 1
        } catch {
            outcome = Outcome(token: request.token, verdict: .rejected, reason: error.sentence)
        }
        carriedOut.append(request.token)
        add(Entry(outcome: outcome, values: values), to: job)
        return .outcome(outcome)
    }

    /// A journal that says so has come.
    mutating func withdraw(_ token: MutationToken, job: JobID) {
        guard outcomes[token] == nil else { return }
        add(Entry(outcome: Outcome(token: token, verdict: .withdrawn), values: []), to: job)
    }

    /// The office does something itself.
    mutating func publish(_ values: [PublishedValue], job: JobID) {
        add(Entry(outcome: nil, values: values), to: job)
    }

    private mutating func add(_ entry: Entry, to job: JobID) {
        channels[job, default: []].append(entry)
        standings[job, default: JobStanding()].publish(entry.values)
        if let outcome = entry.outcome { outcomes[outcome.token] = outcome }
    }
}

/// What a device holds of a channel, in one snapshot.
struct PublishedJob {
    private(set) var standing = JobStanding()
    private(set) var outcomes: [MutationToken: Outcome] = [:]
    private(set) var length = 0

    mutating func take(_ entry: ModelServer.Entry) {
        standing.publish(entry.values)
        if let outcome = entry.outcome { outcomes[outcome.token] = outcome }
        length += 1
    }
}
