/// A mutation that waits for the server, or that it has rejected for good.
package struct QueueEntry: Codable, Hashable, Sendable {
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Goes as soon as there is a way and room.
        case ready
        /// Its last attempt failed; the next one is due at `nextAttemptAt`.
        case waiting
        case sending
        /// Another of its lane goes first.
        case behind
        case paused
        /// Answered, but what the server publishes does not show it here yet.
        case answered
        case dropping
        /// For good, with the server's reason in `lastError`; listed until it is dropped.
        case rejected
    }

    /// 32 hexadecimal digits.
    package var token: String
    /// `JOB/NAME`.
    package var lane: String
    /// 0 goes last, 255 first.
    package var priority: Int
    package var kind: String
    /// The id of its job.
    package var job: String
    @Nullable package var jobName: String?
    /// What is asked for, for people.
    package var wish: String
    /// Whether it was asked for on this device.
    package var isOwn: Bool
    package var state: State
    package var attempts: Int
    /// Null when nothing is due by time.
    @Nullable package var nextAttemptAt: Timestamp?
    @Nullable package var lastError: String?
    package var createdAt: Timestamp

    package init(
        token: String, lane: String, priority: Int, kind: String, job: String, jobName: String?, wish: String,
        isOwn: Bool = true, state: State, attempts: Int = 0, nextAttemptAt: Timestamp? = nil, lastError: String? = nil,
        createdAt: Timestamp
    ) {
        self.token = token
        self.lane = lane
        self.priority = priority
        self.kind = kind
        self.job = job
        self.jobName = jobName
        self.wish = wish
        self.isOwn = isOwn
        self.state = state
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.lastError = lastError
        self.createdAt = createdAt
    }
}

/// An attempt to deliver a mutation, after it has ended.
package struct QueueAttempt: Codable, Hashable, Sendable {
    package var token: String
    /// From 1, per token.
    package var attempt: Int
    package var at: Timestamp
    package var durationMilliseconds: Int
    /// `accepted`, `rejected`, `predecessorMissing`, `tryAgain`, `serverBusy`, `unauthorised`, `unreachable`, `answerLost`,
    /// `deadlineExceeded` or `cancelled`; more may come.
    package var outcome: String
    /// Of the HTTP answer, if there was one that says no.
    @Nullable package var status: Int?
    package var detail: String
    @Nullable package var nextAttemptAt: Timestamp?

    package init(
        token: String, attempt: Int, at: Timestamp, durationMilliseconds: Int, outcome: String, status: Int?,
        detail: String, nextAttemptAt: Timestamp?
    ) {
        self.token = token
        self.attempt = attempt
        self.at = at
        self.durationMilliseconds = durationMilliseconds
        self.outcome = outcome
        self.status = status
        self.detail = detail
        self.nextAttemptAt = nextAttemptAt
    }
}

/// `POST /v1/jobs/{job}/state`.
package struct AdvanceRequest: Codable, Hashable, Sendable {
    package var state: String

    package init(state: String) {
        self.state = state
    }
}

/// What was asked for, durably: the tokens, in their order.
package struct QueuedTokens: Codable, Hashable, Sendable {
    package var tokens: [String]

    package init(tokens: [String]) {
        self.tokens = tokens
    }
}

/// `POST /v1/queue/pause` and `resume`.
package struct LaneRequest: Codable, Hashable, Sendable {
    /// `JOB/NAME`, as the queue lists it; absent for everything of this device.
    package var lane: String?

    package init(lane: String? = nil) {
        self.lane = lane
    }
}
