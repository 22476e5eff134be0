import Simulation

#if canImport(Glibc)
    import Glibc
#endif

// Runs seeds one after another: `simulate --seeds 1000 --from 1`. One line per failing seed, exit 1 if there is one.
var count: UInt64 = 100
var from: UInt64 = 1
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    guard let value = arguments.popFirst().flatMap({ UInt64($0) }) else { fatalError("\(option) takes a number") }
    switch option {
    case "--seeds": count = value
    case "--from": from = value
    default: fatalError("usage: simulate [--seeds N] [--from S]")
    }
}
var counters = Counters()
var failing = 0
var trace: UInt64 = 0
for seed in from..<from + count {
    let outcome = Scenario().run(seed: seed)
    counters += outcome.counters
    trace = trace &* 31 &+ outcome.trace
    if !outcome.failures.isEmpty {
        failing += 1
        print("seed \(seed): \(outcome.failures.joined(separator: " "))")
        print("  replay: simulate --seeds 1 --from \(seed)")
    }
}
print("\(count) seeds, \(failing) failing, trace \(String(trace, radix: 16))")
for fault in counters.faults { print("  \(fault.name): \(fault.count)") }
exit(failing == 0 ? 0 : 1)
