import Simulation
import Testing

@Suite("Random histories of two to seven replicas")
struct ScenarioTests {
    @Test("Every history ends in agreement and every fault has happened", .timeLimit(.minutes(5)))
    func everyHistoryEndsInAgreement() {
        var counters = Counters()
        for seed in 1...150 as ClosedRange<UInt64> {
            let outcome = Scenario().run(seed: seed)
            #expect(outcome.failures.isEmpty, "seed \(seed): \(outcome.failures)")
            counters += outcome.counters
        }
        for fault in counters.faults { #expect(fault.count > 0, "the fault '\(fault.name)' never happened") }
    }
}
