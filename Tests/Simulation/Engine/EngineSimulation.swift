/// The daemon's own actors, several laptops of them and a server, in virtual time: what `World` shows of the machines and
/// the store, this shows of the shells between them, at every `await`.
package enum EngineSimulation {
    package struct Outcome: Sendable {
        package let seed: UInt64
        /// What was broken, if anything.
        package let violation: Violation?
        /// The same in every process.
        package let trace: UInt64
        package let counters: EngineCounters
    }

    /// Runs one history; on the thread that asks, from its beginning to its end.
    ///
    /// - Parameter narrate: gets a line for each thing that people or accidents do, and what the laptops log.
    package static func run(seed: UInt64, narrate: ((String) -> Void)? = nil) -> Outcome {
        let scheduler = Scheduler(seed: seed)
        scheduler.narrate = narrate
        var counters = EngineCounters()
        var violation: Violation?
        do {
            let crew = try EngineCrew(seed: seed, scheduler: scheduler)
            defer {
                counters = crew.counters
                counters.looked = crew.checker.checked.values.reduce(0, +)
                crew.close()
            }
            try crew.work()
            try crew.agree()
            try crew.check()
            try crew.checkContents()
        } catch let broken as Violation {
            violation = broken
        } catch {
            violation = Violation("failure", String(reflecting: error))
        }
        counters.turns = scheduler.turns
        return Outcome(seed: seed, violation: violation, trace: scheduler.trace, counters: counters)
    }
}

/// What happened, and what was looked at.
package struct EngineCounters: Hashable, Sendable {
    /// How often a task went on.
    package internal(set) var turns = 0
    /// Edits that were acknowledged, and each of those looked for on each laptop.
    package internal(set) var edits = 0
    package internal(set) var checked = 0
    /// What people read, compared with what the journals say: items, fields, lines of logs, lists, counts.
    package internal(set) var looked = 0
    /// Edits that were stamped anew when the time was learned, and looked at.
    package internal(set) var stampedAnew = 0
    /// Requests that the server has decided.
    package internal(set) var requests = 0
    package internal(set) var crashes = 0
    package internal(set) var breaks = 0
    /// Requests and answers that were lost on the way to the server.
    package internal(set) var lost = 0
    package internal(set) var messages = 0
    /// What happened to disks.
    package internal(set) var fullDisks = 0
    package internal(set) var setBacks = 0
    package internal(set) var copies = 0
    package internal(set) var serverSetBacks = 0
    /// Runs of its own words that laptops brought a server that was set back.
    package internal(set) var wordsTakenBack = 0
    /// Lids that were closed, laptops that came when others had begun, clocks that people set ahead.
    package internal(set) var sleeps = 0
    /// Messages that hung, ways that were full, messages that nobody should have sent, and the server's own stops.
    package internal(set) var hangs = 0
    package internal(set) var congestions = 0
    package internal(set) var forged = 0
    package internal(set) var serverStops = 0
    /// Requests that people took back, and customers' signatures.
    package internal(set) var dropped = 0
    package internal(set) var signOffs = 0
    package internal(set) var lateJoins = 0
    package internal(set) var lies = 0
    /// What people wanted and were refused, with nothing changed.
    package internal(set) var refused = 0
    /// Jobs that a person removed, what came late and was looked for, and decisions about that.
    package internal(set) var removals = 0
    package internal(set) var late = 0
    package internal(set) var lateDecisions = 0

    package init() {}

    /// For people.
    package var summary: String {
        "turns \(turns), edits \(edits), checked \(checked), looked at \(looked), stamped anew \(stampedAnew), requests \(requests), crashes \(crashes), breaks \(breaks), lost \(lost), messages \(messages), full disks \(fullDisks), set back \(setBacks), copies \(copies), server set back \(serverSetBacks), words taken back \(wordsTakenBack), server stops \(serverStops), hangs \(hangs), congestions \(congestions), forged \(forged), dropped \(dropped), signatures \(signOffs), sleeps \(sleeps), late joins \(lateJoins), lies \(lies), refused \(refused), removals \(removals), late \(late), late decisions \(lateDecisions)"
    }

    package static func += (left: inout EngineCounters, right: EngineCounters) {
        left.turns += right.turns
        left.edits += right.edits
        left.checked += right.checked
        left.looked += right.looked
        left.stampedAnew += right.stampedAnew
        left.requests += right.requests
        left.crashes += right.crashes
        left.breaks += right.breaks
        left.lost += right.lost
        left.messages += right.messages
        left.fullDisks += right.fullDisks
        left.setBacks += right.setBacks
        left.copies += right.copies
        left.serverSetBacks += right.serverSetBacks
        left.wordsTakenBack += right.wordsTakenBack
        left.sleeps += right.sleeps
        left.hangs += right.hangs
        left.congestions += right.congestions
        left.forged += right.forged
        left.serverStops += right.serverStops
        left.dropped += right.dropped
        left.signOffs += right.signOffs
        left.lateJoins += right.lateJoins
        left.lies += right.lies
        left.refused += right.refused
        left.removals += right.removals
        left.late += right.late
        left.lateDecisions += right.lateDecisions
    }
}
