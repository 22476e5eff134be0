package import CRDT

/// A stretch of time before something is tried again, as it survives restarts. Milliseconds since the boot.
package struct Wait: Hashable, Sendable {
    package var since: UInt64
    package var milliseconds: UInt64
    /// Only the server's own wish and refused credentials outlast a route that appears.
    package var cause: Cause

    package enum Cause: String, Hashable, Sendable {
        case backOff
        /// The server, or the way to it, is ill: the whole outbox rests.
        /// Kept under its first name.
        case unhealthy = "illness"
        /// An attempt is under way. What stands in a record at a start is one that a crash ended.
        case attempt
        case serverBackOff = "serversWish"
        case predecessor
        case unreachable
        case unauthorised
        case confirmation
    }

    package init(since: UInt64, milliseconds: UInt64, cause: Cause) {
        self.since = since
        self.milliseconds = milliseconds
        self.cause = cause
    }

    package var end: UInt64 {
        let (end, overflow) = since.addingReportingOverflow(milliseconds)
        return overflow ? .max : end
    }

    /// A wait that began later than now was begun before another boot: at least as long as this one has been running
    /// has gone by since, so counting from the boot never ends too early.
    func continued(now: UInt64) -> Wait {
        now < since ? Wait(since: 0, milliseconds: milliseconds, cause: cause) : self
    }
}

/// What the machine has to remember of one request. A store keeps it under its token.
package struct OutboxRecord: Hashable, Sendable {
    package let token: MutationToken
    /// How often it was sent, this time included.
    package var attempts = 0
    /// How many of them in a row have failed, taken for a failure until something is heard.
    package var failures = 0
    package var wait: Wait?
    /// For people.
    package var lastError: String?
    package var state = State.pending

    package enum State: Hashable, Sendable {
        case pending
        /// The server has said so, published state does not show it yet.
        case answered(Outcome.Verdict)
        /// For good, with the server's reason: listed until a person takes note.
        case rejected(String)
    }

    package init(token: MutationToken) {
        self.token = token
    }
}

/// What the machine has to remember besides: one value that a store keeps.
package struct OutboxStanding: Hashable, Sendable {
    /// A person has paused everything of this device's own.
    package var isPaused = false
    package var pausedLanes: Set<LaneID> = []
    /// The whole outbox leaves the server alone.
    package var rest: Rest?

    package struct Rest: Hashable, Sendable {
        package var wait: Wait
        /// In a row; after the wait one attempt goes alone.
        package var failures: Int

        package init(wait: Wait, failures: Int) {
            self.wait = wait
            self.failures = failures
        }
    }

    package init() {}
}
