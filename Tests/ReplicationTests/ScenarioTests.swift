import Simulation
import Testing

@Suite("Random histories in a simulated world")
struct ScenarioTests {
    /// Seeds that once found something wrong in the product, beyond those that are run anyway.
    private static let regressions: [UInt64] = [
        451, 486, 498, 650, 894, 1013, 1651, 1999, 2010, 4720, 5374, 9097, 9689, 10696, 12410, 12491, 13817, 14482,
        15404, 15879, 15901, 16164, 16570, 18730, 21058,
    ]

    /// The same, of laptops that bring their office what there is.
    private static let officeRegressions: [UInt64] = [635, 1332, 1467]

    @Test("Every history keeps the rules, ends in agreement, and every fault has happened", .timeLimit(.minutes(10)))
    func everyHistoryKeepsTheRules() async throws {
        let counters = try await Self.run(1...300)
        #expect(counters.silent.isEmpty, "these faults never happened: \(counters.silent)")
    }

    @Test("Histories that once broke a rule keep it", .timeLimit(.minutes(5)))
    func regressions() async throws {
        // As they were found: before the simulated crew had an office.
        let counters = try await Self.run(Self.regressions, hasGateways: false)
        #expect(counters.edits > 0 && counters[.gateway] == 0)
        let others = try await Self.run(Self.officeRegressions, hasGateways: true)
        #expect(others[.uploaded] > 0)
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
