import Simulation
import Testing

@Suite("Random histories in a simulated world")
struct ScenarioTests {
    @Test("Every history keeps the rules, ends in agreement, and every fault has happened", .timeLimit(.minutes(5)))
    func everyHistoryKeepsTheRules() async throws {
        var counters = Counters()
        for seed in 1...300 as ClosedRange<UInt64> {
            let outcome = try await Simulation.run(seed: seed)
            #expect(
                outcome.violation == nil,
                "seed \(seed): \(outcome.violation?.description ?? "")\nTests/simulate --replay \(seed) shows the steps"
            )
            counters += outcome.counters
        }
        #expect(counters.silent.isEmpty, "these faults never happened: \(counters.silent)")
    }
}
