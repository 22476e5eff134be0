package import HTTPCoding

/// A mutation: one that waits for the server, or a finished one with what came of it.
package struct QueueEntry: Codable, Hashable, Sendable {
    /// Where a mutation stands between whoever asked for it and the server's answer.
    package enum State: String, Codable, Hashable, Sendable, CaseIterable {
        /// Goes as soon as there is a way and room.
        case ready
        /// Its last attempt failed, or another's in a way that concerns all; the next one is due at `nextAttemptAt`.
        case waiting
        case sending
        /// Another of its lane goes first.
        case behind
        case paused
        /// Answered, but what the server publishes does not show it here yet.
        case answered
        case dropping
        /// For good, with the server's reason in `lastError`; listed until it is dropped, and shown by its token
        /// afterwards.
        case rejected
        /// Finished: the server has carried it out. Not listed any more.
        case accepted
        /// Finished: taken back before the server carried it out. Not listed any more.
        case withdrawn
    }

    /// 32 hexadecimal digits.
    package var token: String
    /// `JOB/NAME`.
    package var lane: String
    /// 0 goes last, 255 first.
    package var priority: Int
    /// `advanceState`, `openJob` or `signOff`; a newer device may bring others.
    package var kind: String
    /// The id of its job.
    package var job: String
    /// What people call the job; null where it is not here.
    @Nullable package var jobName: String?
    /// What is asked for, for people.
    package var wish: String
    /// Whether it was asked for on this device.
    package var isOwn: Bool
    /// The name of the laptop on which it was asked for; null where that is not known.
    @Nullable package var askedBy: String?
    /// As far as this device knows: another one may deliver the same mutation.
    package var state: State
    /// How often this device has sent it, an attempt under way included.
    package var attempts: Int
    /// Null when nothing is due by time.
    @Nullable package var nextAttemptAt: Timestamp?
    /// What the last failed attempt said; of a finished mutation the server's reason, null when it gave none.
    @Nullable package var lastError: String?
    /// The stamp of the request in its author's journal, in corrected time; RFC 3339 in UTC.
    package var createdAt: Timestamp
    /// When the server decided it; null while it has not, as far as is known here, and as long as a rejected one is
    /// listed.
    @Nullable package var decidedAt: Timestamp?

    /// `token` and `job` are whole; `decidedAt` is only given for what is finished.
    package init(
        token: String, lane: String, priority: Int, kind: String, job: String, jobName: String?, wish: String,
        isOwn: Bool = true, askedBy: String? = nil, state: State, attempts: Int = 0, nextAttemptAt: Timestamp? = nil,
        lastError: String? = nil, createdAt: Timestamp, decidedAt: Timestamp? = nil
    ) {
        self.token = token
        self.lane = lane
        self.priority = priority
        self.kind = kind
        self.job = job
        self.jobName = jobName
        self.wish = wish
        self.isOwn = isOwn
        self.askedBy = askedBy
        self.state = state
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.lastError = lastError
        self.createdAt = createdAt
        self.decidedAt = decidedAt
    }
}

/// An attempt to deliver a mutation, after it has ended.
package struct QueueAttempt: Codable, Hashable, Sendable {
    /// The mutation's token, 32 hexadecimal digits.
    package var token: String
    /// What was asked for, for people; null where the request is not here any more. So are the next two.
    @Nullable package var wish: String?
    /// The id of its job.
    @Nullable package var job: String?
    /// What people call the job.
    @Nullable package var jobName: String?
    /// From 1, per token.
    package var attempt: Int
    /// When it began, in corrected time; RFC 3339 in UTC.
    package var at: Timestamp
    /// From its beginning to its end; 0 where the daemon stopped in its midst.
    package var durationMilliseconds: Int
    /// `accepted`, `rejected`, `predecessorMissing`, `tryAgain`, `serverBusy`, `unauthorised`, `unreachable`,
    /// `answerLost`, `deadlineExceeded`, `cancelled` or `interrupted` (the daemon stopped in its midst); more may
    /// come.
    package var outcome: String
    /// Of the HTTP answer, if there was one that says no.
    @Nullable package var status: Int?
    /// What the server or the network said, for people; may be empty.
    package var detail: String
    /// When the next attempt was due then; null when none was.
    @Nullable package var nextAttemptAt: Timestamp?

    /// `wish`, `job` and `jobName` are nil together, where the request is not here any more.
    package init(
        token: String, wish: String? = nil, job: String? = nil, jobName: String? = nil, attempt: Int, at: Timestamp,
        durationMilliseconds: Int, outcome: String, status: Int?,
        detail: String, nextAttemptAt: Timestamp?
    ) {
        self.token = token
        self.wish = wish
        self.job = job
        self.jobName = jobName
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
package struct AdvanceRequest: Codable, Hashable, Sendable, ClosedBody {
    /// `scheduled`, `dispatched`, `inProgress`, `awaitingSignature`, `completed` or `cancelled`; else 422.
    package var state: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case state }

    /// A state that cannot follow those that are asked for already is refused with 422.
    package init(state: String) {
        self.state = state
    }
}

/// What was asked for, durably: the tokens, in their order.
package struct QueuedTokens: Codable, Hashable, Sendable {
    /// One or two, 32 hexadecimal digits each: that of `openJob` first where the job was not open.
    package var tokens: [String]
    /// False where the last request that waits asks for the same: `tokens` is that one, and nothing was queued.
    package var isNew: Bool

    /// `tokens` stand in the order in which the mutations go.
    package init(tokens: [String], isNew: Bool = true) {
        (self.tokens, self.isNew) = (tokens, isNew)
    }
}

/// `POST /v1/queue/pause` and `resume`.
package struct LaneRequest: Codable, Hashable, Sendable, ClosedBody {
    /// A job, or a lane of it as the queue lists it (`JOB/NAME`); absent for everything of this device.
    package var lane: String?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case lane }

    /// Nil pauses everything of this device, or ends every pause.
    package init(lane: String? = nil) {
        self.lane = lane
    }
}
