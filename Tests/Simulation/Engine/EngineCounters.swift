/// What happened in a history, and what was looked at.
package struct EngineCounters: Hashable, Sendable {
    /// In the order in which people read them.
    package enum Event: String, CaseIterable, Sendable {
        /// A task went on.
        case turns
        /// Edits that were acknowledged, and each of those looked for on each laptop.
        case edits, lookedFor = "looked for"
        /// What people read, compared with what the journals say: items, fields, lines of logs, lists, counts.
        case lookedAt = "looked at"
        /// Edits that were stamped anew when the time was learned, and looked at.
        case stampedAnew = "stamped anew"
        case imports
        /// Several writes that became durable in one commit.
        case sharedCommits = "shared commits"
        /// What people wanted and were refused, with nothing changed.
        case refused

        /// Queues, compared with what the journals say of each request that was acknowledged.
        case queues
        /// Requests that the server has decided, that people took back, and customers' signatures.
        case requests, dropped, signOffs = "signatures"
        /// Several requests in one exchange, and only the first of them decided.
        case together, decidedInPart = "decided in part"
        /// Requests and answers that were lost on the way to the server, and the way itself.
        case lost, lostRoutes = "lost routes"
        case busyServer = "busy server", serverStops = "server stops"
        /// The server's disk was set back, with its people's knowledge or without, and runs of its own words that laptops
        /// brought it.
        case serverSetBacks = "server set back", unawares, wordsTakenBack = "words taken back"
        /// Journals of laptops that nobody meets.
        case strangers

        case messages, breaks, halfEnds = "half ends", hangs, congestions, forged
        /// Histories in which not everybody can reach everybody.
        case chains, stars

        case crashes, sleeps, lateJoins = "late joins"
        /// Clocks that people set, and those that are ahead of what the daemon knows of the time.
        case wallJumps = "wall clocks set", lies
        case fullDisks = "full disks", setBacks = "set back", copies, unnoticedCopies = "unnoticed copies"

        /// Jobs that a person removed, what came late and was looked for, and decisions about that.
        case removals, late, lateDecisions = "late decisions"

        /// Moments that are brought about (`EngineCrew.Moment`).
        case twins, strangersWithNews = "strangers with news", forksAtServer = "forks at the server"
        case lateForks = "late forks", rescues, twoRemovers = "two removers", unnotedTimes = "times not noted"

        /// Laptops that leads put on jobs, put on them again, and took off them; those of which two said different things and did not
        /// hear of each other; and those that were taken off while only they held something that they had written.
        case assigned, reassigned, unassigned, wordsApart = "words apart", takenOffWithWork = "taken off with work"
        /// Edits in a job by one who is not on it, as far as the laptop knows.
        case outsideEdits = "edits from outside"

        /// Histories with a traitor, and connections that were closed for a lie of theirs that was named.
        case traitors, named
    }

    private var counts: [Event: Int] = [:]
    /// How often each thing was looked at.
    package internal(set) var checks: [Check: Int] = [:]
    /// How often a traitor did each thing.
    package internal(set) var treasons: [Treason: Int] = [:]

    package init() {}

    package internal(set) subscript(event: Event) -> Int {
        get { counts[event] ?? 0 }
        set { counts[event] = newValue }
    }

    /// For people.
    package var summary: String {
        Event.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ") + "\nchecked: "
            + Check.allCases.map { "\($0.rawValue) \(checks[$0] ?? 0)" }.joined(separator: ", ") + "\nthe traitor: "
            + Treason.allCases.map { "\($0.rawValue) \(treasons[$0] ?? 0)" }.joined(separator: ", ")
    }

    package static func += (left: inout EngineCounters, right: EngineCounters) {
        left.counts.merge(right.counts, uniquingKeysWith: +)
        left.checks.merge(right.checks, uniquingKeysWith: +)
        left.treasons.merge(right.treasons, uniquingKeysWith: +)
    }
}
