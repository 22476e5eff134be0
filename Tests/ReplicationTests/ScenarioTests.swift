import Simulation
import Testing

@Suite("Random histories in a simulated world")
struct ScenarioTests {
    @Test("Every history keeps the rules, ends in agreement, and every fault has happened", .timeLimit(.minutes(10)))
    func everyHistoryKeepsTheRules() async throws {
        var counters = Counters()
        try await withThrowingTaskGroup(of: Counters.self) { group in
            // Several at a time, because a history is one step after another.
            var seeds = (1...300 as ClosedRange<UInt64>).makeIterator()
            for _ in 0..<4 {
                if let seed = seeds.next() { group.addTask { try await Self.run(seed) } }
            }
            for try await some in group {
                counters += some
                if let seed = seeds.next() { group.addTask { try await Self.run(seed) } }
            }
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
