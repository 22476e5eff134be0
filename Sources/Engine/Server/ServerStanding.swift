package import CRDT
import Outbox
import ServerChannel

/// How this device stands with the server, for people.
package struct ServerStanding: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Nothing has been heard yet.
        case unknown
        case noRoute
        case reached
        case unreachable(String)
        case unhealthy(String)
        /// It does not let this laptop in, for the reason that it gives.
        case unauthorised(String)

        /// Why it was not asked with success, for people; nil where it was, or where there is no more to say.
        package var reason: String? {
            switch self {
            case .unknown, .noRoute, .reached: nil
            case .unreachable(let reason), .unhealthy(let reason), .unauthorised(let reason): reason
            }
        }
    }

    /// The server has answered, and did not let this laptop in.
    var isUnauthorised: Bool { if case .unauthorised = state { true } else { false } }

    /// It has answered at the last poll, whether or not it lets this laptop in.
    package var isThere: Bool { state == .reached || isUnauthorised }

    /// What came of the last poll.
    package internal(set) var state = State.unknown
    /// Corrected milliseconds since 1970; nil when it has not answered since the start.
    package internal(set) var lastAnswer: UInt64?
    /// Of these jobs it holds less of its own channel than this device, or another content.
    package private(set) var behind: Set<JobID> = []
    /// Of these this device holds another server's words, which it took before it was in its fleet: what the fleet's says does not
    /// fit behind them.
    package private(set) var foreign: Set<JobID> = []

    /// How a job's channel here and there stand.
    enum Words {
        case fit
        case behind
        case foreign
    }

    /// - Returns: whether that is news.
    mutating func note(_ words: Words, in job: JobID) -> Bool {
        let former = (behind, foreign)
        if words == .behind { behind.insert(job) } else { behind.remove(job) }
        if words == .foreign { foreign.insert(job) } else { foreign.remove(job) }
        return former != (behind, foreign)
    }
}

/// A round with the server that came to nothing.
struct RoundFailure: Error {
    let failure: PollPlan.Failure
    let state: ServerStanding.State
}

extension RoundFailure {
    /// Of a request that was not sent because of it.
    var forOutbox: OutboxMachine.Reply {
        switch (failure, state) {
        case (.busy(let wait), _): .serverBusy(status: nil, retryAfterMilliseconds: wait)
        case (.unauthorised, _): .unauthorised
        case (.unreachable, .unreachable(let reason)): .unreachable(reason: reason)
        case (_, .unhealthy(let reason)):
            .tryAgain(status: nil, reason: "what it needs could not be brought: \(reason)")
        default: .tryAgain(status: nil, reason: "what it needs could not be brought")
        }
    }
}

extension ServerReply {
    /// The answer; a problem of this one request is thrown as `ServerProblem`, what concerns the server as a whole as
    /// `RoundFailure`.
    func get() throws -> Value {
        switch self {
        case .answer(let value): return value
        case .problem(let problem) where problem.status < 500: throw problem
        case .problem(let problem): throw RoundFailure(failure: .unhealthy, state: .unhealthy(problem.sentence))
        case .busy(let status, let wait):
            throw RoundFailure(failure: .busy(wait), state: .unhealthy("it wants to be left alone (status \(status))"))
        case .unauthorised(let reason): throw RoundFailure(failure: .unauthorised, state: .unauthorised(reason))
        case .unreachable(let reason): throw RoundFailure(failure: .unreachable, state: .unreachable(reason))
        case .lost(let reason): throw RoundFailure(failure: .unhealthy, state: .unhealthy(reason))
        }
    }
}
