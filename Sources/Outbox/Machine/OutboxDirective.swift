package import CRDT

extension OutboxMachine {
    /// What the shell has to do, in this order.
    ///
    /// One type for every stimulus, because each may free a place in which the next exchange begins. What only has to be
    /// remembered is apart: nothing is answered to it.
    package enum Directive: Hashable, Sendable {
        case write(Write)
        /// Make the records of an exchange durable, then answer with `onPersisted` or `onPersistFailed`.
        case begin(ExchangeNumber, [OutboxRecord])
        /// Deliver them in this order, each with its token as the key of the effect, and answer with `onReply`, once.
        case send([OutboxEntry], ExchangeNumber)
        /// Nobody waits for it any more: end the exchange. A reply that comes all the same may be handed in.
        case cancel(ExchangeNumber)
        /// The server lacks what went before: bring it the author's journal, then call `onJournalBrought`.
        case bringJournal(JobID, ReplicaID)
        /// Say in the own journal that it is withdrawn, then call `onWithdrawn`, or `onWithdrawFailed`.
        case withdraw(JobID, MutationToken)
        case tell(Notice)
    }

    /// What is to be remembered. Of one token the last word counts, be it a record, one of an exchange that begins, or `forget`.
    package enum Write: Hashable, Sendable {
        /// In one write.
        case records([OutboxRecord])
        /// Forget the record.
        case forget(MutationToken)
        case standing(OutboxStanding)
        case attempt(AttemptEvent)
    }

    /// For the people at this device.
    package enum Notice: Hashable, Sendable {
        /// For good, with the server's reason.
        case rejected(OutboxEntry, reason: String)
        /// So many attempts in a row have failed; it goes on trying.
        case stuck(OutboxEntry, failures: Int, lastError: String)
        /// The server does not accept this device's credentials; everything waits for new ones.
        case unauthorised
        case authorisedAgain
    }

    /// What came of an exchange, as the shell read it. Anything but `decided` is said of the exchange as a whole.
    package enum Reply: Hashable, Sendable {
        /// What came of the first of its requests, in their order, one at least; for good. Those behind were not looked at.
        case decided([Outcome])
        /// The server cannot carry it out before another, which it names if it knows.
        case predecessorMissing(MutationToken?)
        /// It was not done. A status of 400 to 499 is the server's word on this request; any other says that the server is
        /// ill. There is none when it was not asked, as something else that has to be there first could not be brought.
        case tryAgain(status: Int?, reason: String)
        /// The server wants to be left alone by everybody: 429 or 503, or another answer with `Retry-After`.
        case serverBusy(status: Int?, retryAfterMilliseconds: UInt64?)
        case unauthorised
        /// Nothing was sent: no connection, no name, or somebody else's login page.
        case unreachable(reason: String)
        /// It may have arrived: the connection ended before an answer that makes sense.
        case answerLost(reason: String)

        /// The server's own word: it is well, and nobody else has to wait.
        var isOfRequest: Bool {
            switch self {
            case .decided, .predecessorMissing: true
            case .tryAgain: !saysUnhealthy
            case .answerLost, .serverBusy, .unauthorised, .unreachable: false
            }
        }

        /// The server, or the way to it, is ill, as far as one request can tell.
        var saysUnhealthy: Bool {
            switch self {
            case .tryAgain(let status, _): !(400..<500).contains(status ?? 500)
            case .answerLost: true
            case .decided, .predecessorMissing, .serverBusy, .unauthorised, .unreachable: false
            }
        }

        /// Whether the request's failures are counted: who was not reached, or did not listen, says nothing about it.
        var isCounted: Bool {
            switch self {
            case .unauthorised, .unreachable: false
            default: true
            }
        }
    }
}

/// Why a person's wish about the queue cannot be met. Nothing has changed.
package enum OutboxRefusal: Error, Hashable, Sendable {
    case unknown(MutationToken)
    case notOwn(MutationToken)
    case answered(MutationToken)
    case rejected(MutationToken)

    /// One sentence: what is wrong and what to do.
    package var sentence: String {
        switch self {
        case .unknown(let token):
            "There is no request \(Self.short(token)) in the queue; 'muster queue list' shows what waits."
        case .notOwn(let token):
            "The request \(Self.short(token)) was made on another laptop; drop it there."
        case .answered(let token):
            "The server has already answered the request \(Self.short(token)); ask for another change instead."
        case .rejected(let token):
            "The server has rejected the request \(Self.short(token)) for good; drop it and ask for another change."
        }
    }

    /// As lists show it, and as it is found.
    private static func short(_ token: MutationToken) -> Substring { token.description.prefix(8) }
}

/// Bounds of the outbox, in numbers and milliseconds.
package struct OutboxLimits: Hashable, Sendable {
    /// Exchanges that are under way at the same time.
    package var inFlight = 4
    /// Requests in one exchange, and bytes of their payloads: the server takes no more in one body.
    package var inExchange = 32
    package var exchangeBytes = 512 << 10
    /// A request that failed so often, each time at the very moment when the server had answered something else, is
    /// suspected to be what makes the server fail; or the daemon, if it ended so often in its midst.
    package var failuresBeforeSuspicion = 5
    /// A rest for illness ends when the server answers something else, but not before: who polls all the time must not
    /// send requests as often.
    package var shortestRestEndedByAnswer: UInt64 = 5_000
    /// While nobody reaches the server, and while it is ill.
    package var firstRest: UInt64 = 1_000
    /// No rest is doubled beyond it; it is longer only if the server asks for that, or has refused the credentials.
    package var longestRest: UInt64 = 300_000
    /// No more of `Retry-After` is believed: a typing error at the server must not stop a crew for days.
    package var longestRetryAfter: UInt64 = 3_600_000
    /// How often an outbox without credentials tries whether they are accepted again.
    package var unauthorisedRest: UInt64 = 900_000
    /// How long published state may take to show an answer before the same is asked again; doubled each time.
    package var firstConfirmation: UInt64 = 30_000
    /// No wait for published state is doubled beyond it.
    package var longestConfirmation: UInt64 = 3_600_000

    /// The bounds of a laptop: four exchanges at a time, rests that are doubled from 1 s to 5 min.
    package init() {}
}
