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
        #expect(counters.edits > 3_000)
        #expect(counters.checked > counters.edits)
        #expect(counters.looked > 100_000)
        #expect(counters.stampedAnew > 50)
        #expect(counters.requests > 300)
        #expect(counters.crashes > 100)
        #expect(counters.breaks > 100)
        #expect(counters.lost > 100)
        #expect(counters.fullDisks > 100)
        #expect(counters.setBacks > 20)
        #expect(counters.copies > 20)
        #expect(counters.serverSetBacks > 10)
        #expect(counters.wordsTakenBack > 10)
        #expect(counters.serverStops > 10)
        #expect(counters.hangs > 10)
        #expect(counters.congestions > 10)
        #expect(counters.forged > 10)
        #expect(counters.dropped > 10)
        #expect(counters.signOffs > 10)
        #expect(counters.sleeps > 100)
        #expect(counters.lateJoins > 10)
        #expect(counters.lies > 50)
        #expect(counters.removals > 20)
        #expect(counters.late > 0)
        #expect(counters.lateDecisions > 0)
    }

    @Test("A seed brings the same history each time, and another seed another one", .timeLimit(.minutes(5)))
    func replays() {
        let traces = (UInt64(1)...5).map { EngineSimulation.run(seed: $0).trace }
        #expect(traces == (UInt64(1)...5).map { EngineSimulation.run(seed: $0).trace })
        #expect(Set(traces).count == traces.count)
    }
}
