package import CRDT

/// A stretch of time before something is tried again, as it survives restarts. Milliseconds since the boot.
package struct Wait: Hashable, Sendable {
    /// When it began.
    package var since: UInt64
    /// How long it is, from then.
    package var milliseconds: UInt64
    /// Only the server's own wish and refused credentials outlast a route that appears.
    package var cause: Cause

    /// Why something waits; the raw values are stored.
    package enum Cause: String, Hashable, Sendable {
        /// The attempt failed: this request waits alone.
        case backOff
        /// The server, or the way to it, is ill: the whole outbox rests.
        /// Kept under its first name.
        case unhealthy = "illness"
        /// An attempt is under way. What stands in a record at a start is one that a crash ended.
        case attempt
        /// The server has asked to be left alone: the whole outbox rests. Kept under its first name.
        case serverBackOff = "serversWish"
        /// The server lacks what went before: the author's journal is brought first.
        case predecessor
        /// Nobody was reached: the whole outbox rests.
        case unreachable
        /// The credentials were refused: the whole outbox rests.
        case unauthorised
        /// It is answered, and published state does not show it yet.
        case confirmation
    }

    /// Takes the parts as they are; `end` cannot overflow.
    package init(since: UInt64, milliseconds: UInt64, cause: Cause) {
        self.since = since
        self.milliseconds = milliseconds
        self.cause = cause
    }

    /// When it is over; the greatest number if that is beyond all numbers.
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
    /// Whose record it is.
    package let token: MutationToken
    /// How often it was sent, this time included.
    package var attempts = 0
    /// How many of them in a row have failed, taken for a failure until something is heard.
    package var failures = 0
    /// Its own wait; nil while it waits for nothing, or with the whole outbox.
    package var wait: Wait?
    /// For people.
    package var lastError: String?
    /// How far the server has come with it.
    package var state = State.pending

    /// What the server has said of a request.
    package enum State: Hashable, Sendable {
        case pending
        /// The server has said so, published state does not show it yet.
        case answered(Outcome.Verdict)
        /// For good, with the server's reason: listed until a person takes note.
        case rejected(String)
    }

    /// Of a request that was never sent.
    package init(token: MutationToken) {
        self.token = token
    }
}

/// What the machine has to remember besides: one value that a store keeps.
package struct OutboxStanding: Hashable, Sendable {
    /// A person has paused everything of this device's own.
    package var isPaused = false
    /// Lanes in which a person has paused this device's own requests, besides `isPaused`.
    package var pausedLanes: Set<LaneID> = []
    /// The whole outbox leaves the server alone.
    package var rest: Rest?

    /// A time in which nothing is sent, whatever its lane.
    package struct Rest: Hashable, Sendable {
        /// Until when, and why.
        package var wait: Wait
        /// In a row; after the wait one attempt goes alone.
        package var failures: Int

        /// Takes a wait and how many in a row have failed, this one included.
        package init(wait: Wait, failures: Int) {
            self.wait = wait
            self.failures = failures
        }
    }

    /// Nothing is paused, nothing rests.
    package init() {}
}
