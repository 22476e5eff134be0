import Simulation
import Testing

/// The daemon's own actors under a scheduler that draws what goes on next.
@Suite("The simulated engine")
struct EngineSimulationTests {
    @Test(
        "300 histories of laptops and a server, interleaved at every await, end in agreement", .timeLimit(.minutes(15)))
    func histories() {
        var counters = EngineCounters()
        for seed in UInt64(1)...300 {
            let outcome = EngineSimulation.run(seed: seed)
            counters += outcome.counters
            #expect(outcome.violation == nil, "seed \(seed); replay: Tests/simulate --engine --replay \(seed)")
        }
        print(counters.summary)
        // Whatever did not happen was not tested.
        for event in EngineCounters.Event.allCases {
            let least =
                switch event {
                case .late, .lateDecisions: 0
                case .setBacks, .copies, .removals, .decidedInPart: 20
                case .stampedAnew, .lies: 50
                case .crashes, .breaks, .lost, .fullDisks, .sleeps, .together: 100
                case .requests: 300
                default: 10
                }
            #expect(counters[event] > least, "\(event.rawValue)")
        }
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
}
