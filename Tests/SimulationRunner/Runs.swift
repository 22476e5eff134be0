import Simulation

#if canImport(Glibc)
    import Glibc
#endif

/// Runs all seeds of the options through the daemon's actors, on as many threads as asked for.
func run(_ options: Options) async -> Bool {
    let first = options.replay ?? options.from
    let end = options.replay.map { $0 + 1 } ?? options.from + options.seeds
    var counters = EngineCounters()
    var failing = 0
    var done = 0
    var trace: UInt64 = 0
    await withTaskGroup(of: EngineSimulation.Outcome.self) { group in
        var next = first
        var last = end
        func begin() {
            guard next < last else { return }
            let seed = next
            next += 1
            let isReplay = options.replay != nil
            group.addTask { EngineSimulation.run(seed: seed, narrate: isReplay ? { print($0) } : nil) }
        }
        for _ in 0..<options.jobs { begin() }
        for await outcome in group {
            done += 1
            counters += outcome.counters
            // A sum, because seeds end in any order.
            trace = trace &+ outcome.trace
            if let violation = outcome.violation {
                failing += 1
                print("seed \(outcome.seed): \(violation)")
                print("    replay: Tests/simulate --replay \(outcome.seed)")
                fflush(nil)
                if options.stopsAtFirst { last = next }
            }
            begin()
        }
    }
    print("\(done) seeds, \(failing) failing, trace \(String(trace, radix: 16))")
    print(counters.summary)
    return failing == 0
}
