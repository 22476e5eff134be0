import Testing

@Suite("Several gateways, a server, and everything that can go wrong")
struct OutboxSimulationTests {
    @Test("Each mutation happens once and in order, and everything is settled in the end", .timeLimit(.minutes(2)))
    func seeds() {
        var counters: [OutboxFault: Int] = [:]
        for seed in UInt64(1)...200 {
            var world = OutboxWorld(seed: seed)
            world.run()
            #expect(world.violations == [])
            if !world.violations.isEmpty { return }
            counters.merge(world.counters, uniquingKeysWith: +)
        }
        let silent = OutboxFault.allCases.filter { counters[$0, default: 0] == 0 }
        #expect(silent == [], "a fault that never happened proves nothing")
    }

    @Test("The same seed gives the same run")
    func replay() {
        var first = OutboxWorld(seed: 7)
        var second = OutboxWorld(seed: 7)
        first.run()
        second.run()
        #expect(first.steps == second.steps && first.counters == second.counters)
        #expect(first.server.carriedOut == second.server.carriedOut)
    }

    @Test("A restart before every single step of a run changes nothing that the office sees")
    func everyPoint() {
        var whole = OutboxWorld(seed: 3, restartAt: .max)
        whole.run()
        #expect(whole.violations == [])
        #expect(whole.steps > 20)
        for step in 1...min(whole.steps, 300) {
            var world = OutboxWorld(seed: 3, restartAt: step)
            world.run()
            #expect(world.violations == [])
            #expect(world.server.outcomes.count == whole.server.outcomes.count)
        }
    }
}
