import Simulation

#if canImport(Glibc)
    import Glibc
#endif

/// Shows one seed: its steps, what it broke, and the shortest history that breaks the same rule.
func replay(_ seed: UInt64, _ options: Options) async throws -> Bool {
    let plan = Simulation.plan(seed: seed, hasGateways: options.hasGateways)
    print(plan.text)
    // A history that never seems to end is followed as it goes.
    let isTold = options.isVerbose && options.isAsIs
    let outcome = try await Simulation.run(plan, narrate: isTold ? { print($0) } : nil)
    guard let violation = outcome.violation else {
        if options.isVerbose, !isTold { _ = try await Simulation.run(plan, narrate: { print($0) }) }
        print("no rule is broken; \(outcome.counters.summary)")
        return true
    }
    print("broken: \(violation)\n")
    if !options.isAsIs { try await shrink(plan, violation, isVerbose: options.isVerbose) }
    return false
}

private func shrink(_ plan: Plan, _ violation: Violation, isVerbose: Bool) async throws {
    let shortest = try await Shrinking.shortest(plan, breaking: violation.rule)
    let outcome = try await Simulation.run(shortest, narrate: isVerbose ? { print($0) } : nil)
    print("the shortest history found, \(shortest.steps.count) of \(plan.steps.count) steps:")
    print(shortest.text)
    print("broken: \(outcome.violation.map(\.description) ?? "nothing, this time")")
}

/// Runs all seeds of the options on as many threads as asked for.
func runAll(_ options: Options) async throws -> Bool {
    var counters = Counters()
    var failing: [Simulation.Outcome] = []
    var trace: UInt64 = 0
    var done = 0
    let isTerminal = isatty(1) == 1
    try await withThrowingTaskGroup(of: Simulation.Outcome.self) { group in
        var next = options.from
        let end = options.from + options.seeds
        for _ in 0..<options.jobs where next < end {
            let seed = next
            group.addTask { try await Simulation.run(seed: seed, hasGateways: options.hasGateways) }
            next += 1
        }
        for try await outcome in group {
            done += 1
            counters += outcome.counters
            // A sum, because seeds end in any order.
            trace = trace &+ outcome.trace
            if let violation = outcome.violation {
                failing.append(outcome)
                print("seed \(outcome.plan.seed): \(violation)")
                print("    replay: Tests/simulate --replay \(outcome.plan.seed)")
                fflush(nil)
                if options.stopsAtFirst { next = end }
            }
            if done % 50 == 0 { fflush(nil) }
            if isTerminal { print("\r\(done) of \(options.seeds) ", terminator: "") }
            guard next < end else { continue }
            let seed = next
            group.addTask { try await Simulation.run(seed: seed, hasGateways: options.hasGateways) }
            next += 1
        }
    }
    print("\(done) seeds, \(failing.count) failing, trace \(String(trace, radix: 16))")
    print(counters.summary)
    if !options.stopsAtFirst, let first = failing.min(by: { $0.plan.seed < $1.plan.seed }),
        let violation = first.violation
    {
        print("\nseed \(first.plan.seed):")
        try await shrink(first.plan, violation, isVerbose: false)
    }
    if !options.stopsAtFirst, !counters.silent.isEmpty {
        print("enabled and never happened: \(counters.silent.map(\.rawValue).joined(separator: ", "))")
        return false
    }
    if !options.stopsAtFirst, !counters.unchecked.isEmpty {
        print("nothing was checked of: \(counters.unchecked.map(\.rawValue).joined(separator: ", "))")
        return false
    }
    return failing.isEmpty
}
