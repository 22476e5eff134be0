import Simulation
import Testing

@Suite("Random histories in a simulated world")
struct ScenarioTests {
    @Test("Every history keeps the rules, ends in agreement, and every fault has happened", .timeLimit(.minutes(10)))
    func everyHistoryKeepsTheRules() async throws {
        var counters = Counters()
        try await withThrowingTaskGroup(of: Counters.self) { group in
            // In several tasks, because a history is one step after another.
            let tasks: UInt64 = 4
            for first in 1...tasks {
                group.addTask {
                    var counters = Counters()
                    for seed in stride(from: first, through: 300, by: Int(tasks)) {
                        counters += try await Self.run(seed)
                    }
                    return counters
                }
            }
            for try await some in group { counters += some }
        }
        #expect(counters.silent.isEmpty, "these faults never happened: \(counters.silent)")
    }

    private static func run(_ seed: UInt64) async throws -> Counters {
        let outcome = try await Simulation.run(seed: seed)
        #expect(
            outcome.violation == nil,
            "seed \(seed): \(outcome.violation?.description ?? "")\nTests/simulate --replay \(seed) shows the steps")
        return outcome.counters
    }
}
