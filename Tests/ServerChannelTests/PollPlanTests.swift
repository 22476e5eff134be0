import CRDT
import Testing

@testable import ServerChannel

@Suite("When the server is asked for news")
struct PollPlanTests {
    private var generator = SeededGenerator(seed: 1)
    private var plan = PollPlan(interval: 15_000)

    @Test("Nothing without a route, within a second of one that appears, then at the interval with some chance")
    mutating func interval() {
        #expect(plan.nextPoll == nil)
        plan.onRoute(isUp: false, now: 1_000, using: &generator)
        #expect(plan.nextPoll == nil)
        plan.onRoute(isUp: true, now: 50_000, using: &generator)
        #expect((50_000...51_000).contains(plan.nextPoll ?? 0))
        var seen: Set<UInt64> = []
        for _ in 0..<50 {
            plan.onAnswer(now: 60_000, using: &generator)
            let next = plan.nextPoll ?? 0
            #expect((72_000...75_000).contains(next))
            seen.insert(next)
        }
        #expect(seen.count > 10)
        plan.onRoute(isUp: false, now: 61_000, using: &generator)
        #expect(plan.nextPoll == nil)
    }

    @Test("Ever more seldom while the server is ill; a wish does not hurry it, a route does not, its own word lasts")
    mutating func unhealthy() {
        plan.onRoute(isUp: true, now: 0, using: &generator)
        for failure in 0..<20 {
            plan.onFailure(.unhealthy, now: 10_000, using: &generator)
            let longest = min(1_000 << UInt64(failure), PollPlan.longestRest) as UInt64
            #expect((10_000 + longest / 2...10_000 + longest).contains(plan.nextPoll ?? 0))
        }
        let before = plan.nextPoll
        plan.onWish(now: 11_000)
        #expect(plan.nextPoll == before)
        plan.onFailure(.busy(120_000), now: 10_000, using: &generator)
        plan.onRoute(isUp: false, now: 20_000, using: &generator)
        plan.onRoute(isUp: true, now: 21_000, using: &generator)
        #expect(plan.nextPoll ?? 0 >= 130_000)
        plan.onFailure(.busy(.max), now: 0, using: &generator)
        #expect(plan.nextPoll ?? .max < 4_000_000)
        plan.onAnswer(now: 200_000, using: &generator)
        plan.onWish(now: 200_100)
        #expect(plan.nextPoll == 200_100)
    }

    @Test("A server that was out of reach is asked at once when a route appears")
    mutating func unreachable() {
        plan.onRoute(isUp: true, now: 0, using: &generator)
        for _ in 0..<20 { plan.onFailure(.unreachable, now: 10_000, using: &generator) }
        #expect(plan.nextPoll ?? 0 > 100_000)
        plan.onRoute(isUp: false, now: 11_000, using: &generator)
        plan.onRoute(isUp: true, now: 12_000, using: &generator)
        #expect((12_000...13_000).contains(plan.nextPoll ?? 0))
    }

    @Test("Another way is tried at once, and ends a rest for a missing way, and never one that the server wished")
    func newWay() {
        for (failure, isOver) in [(PollPlan.Failure.unreachable, true), (.busy(40_000), false), (.unhealthy, false)] {
            var generator = SeededGenerator(seed: 1)
            var plan = PollPlan(interval: 15_000)
            plan.onRoute(isUp: true, now: 0, using: &generator)
            for _ in 0..<8 { plan.onFailure(failure, now: 1_000, using: &generator) }
            plan.onNewWay(now: 2_000)
            #expect((plan.nextPoll == 2_000) == isOver, "\(failure): \(plan.nextPoll ?? 0)")
            plan.onAnswer(now: 3_000, using: &generator)
            plan.onNewWay(now: 3_100)
            #expect(plan.nextPoll == 3_100)
        }
    }

    @Test("Another place in the fleet ends a rest for a refusal or a missing way, and never one that the server wished")
    func fleet() {
        for (failure, isOver) in [
            (PollPlan.Failure.unauthorised, true), (.unreachable, true), (.busy(40_000), false), (.unhealthy, false),
        ] {
            var generator = SeededGenerator(seed: 1)
            var plan = PollPlan(interval: 15_000)
            plan.onRoute(isUp: true, now: 0, using: &generator)
            for _ in 0..<8 { plan.onFailure(failure, now: 1_000, using: &generator) }
            plan.onFleet(now: 2_000)
            #expect((plan.nextPoll == 2_000) == isOver, "\(failure): \(plan.nextPoll ?? 0)")
        }
    }
}
