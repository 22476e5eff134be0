/// One history of the daemon's own actors, several laptops of them and a server, in virtual time.
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
                crew.countWhatHappened()
                counters = crew.counters
                crew.close()
            }
            try crew.work()
            try crew.agree()
            try crew.checkAccused()
            try crew.exposeTraitor()
            try crew.check()
            try crew.checkWords()
            try crew.checkContents()
            try crew.tidyUp()
        } catch let broken as Violation {
            violation = broken
        } catch {
            violation = Violation("failure", String(reflecting: error))
        }
        counters[.turns] = scheduler.turns
        return Outcome(seed: seed, violation: violation, trace: scheduler.trace, counters: counters)
    }
}
