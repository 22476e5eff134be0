import CRDT

/// How long until the next attempt, and what is said of the last one.
extension OutboxMachine {
    func wait(of one: Pending, now: UInt64, using generator: inout some RandomNumberGenerator) -> Wait {
        guard case .answered = one.record.state else {
            let delay = one.policy.delay(afterFailures: one.record.failures, using: &generator)
            return Wait(since: now, milliseconds: delay, cause: .backOff)
        }
        var confirmation = RetryPolicy()
        confirmation.firstDelay = limits.firstConfirmation
        confirmation.longestDelay = limits.longestConfirmation
        let delay = confirmation.delay(afterFailures: one.record.failures + 1, using: &generator)
        return Wait(since: now, milliseconds: delay, cause: .confirmation)
    }

    func event(
        of one: Pending, _ ending: AttemptEvent.Ending, status: Int?, _ detail: String, now: UInt64
    ) -> AttemptEvent {
        var began = now
        if case .inFlight(let time) = one.phase { began = time }
        return AttemptEvent(
            token: one.entry.token, attempt: one.record.attempts, began: began,
            nextAttempt: ending == .cancelled ? nil : one.record.wait?.end ?? standing.rest?.wait.end,
            durationMilliseconds: now - min(now, began), outcome: ending, status: status, detail: detail)
    }

    /// A reply that is no answer, for the log and for people.
    struct Failure {
        let ending: AttemptEvent.Ending
        let status: Int?
        let detail: String

        init(_ reply: Reply) {
            switch reply {
            case .decided: (ending, status, detail) = (.accepted, nil, "")
            case .predecessorMissing: (ending, status, detail) = (.predecessorMissing, 409, "an earlier one is missing")
            case .tryAgain(let code, let reason): (ending, status, detail) = (.tryAgain, code, reason)
            case .serverBusy(let code, _): (ending, status, detail) = (.serverBusy, code, "the server is busy")
            case .unauthorised:
                (ending, status, detail) = (.unauthorised, 401, "the server does not let this laptop in")
            case .unreachable(let reason): (ending, status, detail) = (.unreachable, nil, reason)
            case .answerLost(let reason): (ending, status, detail) = (.answerLost, nil, reason)
            }
        }
    }
}
