import Simulation
import Testing

@Suite("Random histories in a simulated world")
struct ScenarioTests {
    @Test("Every history keeps the rules, ends in agreement, and every fault has happened", .timeLimit(.minutes(10)))
    func everyHistoryKeepsTheRules() async throws {
        let counters = try await Self.run(1...300)
        #expect(counters.silent.isEmpty, "these faults never happened: \(counters.silent)")
        #expect(counters.unchecked.isEmpty, "nothing was checked of: \(counters.unchecked)")
    }

    /// Several at a time, because a history is one step after another.
    private static func run(_ seeds: some Sequence<UInt64>, hasGateways: Bool? = nil) async throws -> Counters {
        var counters = Counters()
        try await withThrowingTaskGroup(of: Counters.self) { group in
            var seeds = seeds.makeIterator()
            for _ in 0..<4 {
                if let seed = seeds.next() { group.addTask { try await run(seed, hasGateways: hasGateways) } }
            }
            for try await some in group {
                counters += some
                if let seed = seeds.next() { group.addTask { try await run(seed, hasGateways: hasGateways) } }
            }
        }
        return counters
    }

    private static func run(_ seed: UInt64, hasGateways: Bool?) async throws -> Counters {
        let outcome = try await Simulation.run(seed: seed, hasGateways: hasGateways)
        let option = hasGateways.map { $0 ? " --with-gateways" : " --without-gateways" } ?? ""
        #expect(
            outcome.violation == nil,
            "seed \(seed): \(outcome.violation?.description ?? "")\nTests/simulate --replay \(seed)\(option) shows the steps"
        )
        return outcome.counters
    }
}
