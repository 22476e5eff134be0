import Foundation
import Simulation
import Testing

/// The daemon's own actors under a scheduler that draws what goes on next.
@Suite("The simulated engine")
struct EngineSimulationTests {
    @Test(
        "300 histories of laptops and a server, interleaved at every await, end in agreement", .timeLimit(.minutes(15)))
    func histories() async {
        var counters = EngineCounters()
        // Nobody waits for a deadline meanwhile: both processors work.
        await withTaskGroup(of: EngineSimulation.Outcome.self) { group in
            for seed in UInt64(1)...300 { group.addTask { EngineSimulation.run(seed: seed) } }
            for await outcome in group {
                counters += outcome.counters
                #expect(
                    outcome.violation == nil, "seed \(outcome.seed); replay: Tests/simulate --replay \(outcome.seed)")
            }
        }
        print(counters.summary)
        // Whatever did not happen was not tested.
        for event in EngineCounters.Event.allCases {
            let least =
                switch event {
                case .imports: 3
                case .setBacks, .copies, .removals, .decidedInPart: 20
                case .stampedAnew, .lies: 50
                case .traitors: 50
                case .assigned, .unassigned: 100
                case .crashes, .breaks, .lost, .fullDisks, .sleeps, .together: 100
                case .named: 500
                case .requests: 300
                default: 10
                }
            #expect(counters[event] > least, "\(event.rawValue)")
        }
        for treason in Treason.allCases { #expect(counters.treasons[treason, default: 0] > 10, "\(treason.rawValue)") }
        for check in Check.allCases { #expect(counters.checks[check, default: 0] > 0, "\(check.rawValue)") }
        #expect(counters[.edits] > 3_000)
        #expect(counters[.lookedFor] > counters[.edits])
        #expect(counters[.lookedAt] > 100_000)
    }

    @Test("A seed brings the same history each time, and another seed another one", .timeLimit(.minutes(5)))
    func replays() {
        let traces = (UInt64(1)...5).map { EngineSimulation.run(seed: $0).trace }
        #expect(traces == (UInt64(1)...5).map { EngineSimulation.run(seed: $0).trace })
        #expect(Set(traces).count == traces.count)
    }

    @Test("Another process replays it exactly, though dictionaries are seeded anew there", .timeLimit(.minutes(5)))
    func anotherProcess() throws {
        var trace: UInt64 = 0
        for seed in 21...24 as ClosedRange<UInt64> { trace &+= EngineSimulation.run(seed: seed).trace }
        let process = Process()
        // The built programs lie beside the bundle that holds the tests.
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("simulate")
        process.arguments = ["--seeds", "4", "--from", "21"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.contains("4 seeds, 0 failing, trace \(String(trace, radix: 16))"), "\(text)")
    }
}
