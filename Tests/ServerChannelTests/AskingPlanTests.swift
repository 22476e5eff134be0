import CRDT
import Testing

@testable import ServerChannel

@Suite("When a server is asked for the time")
struct AskingPlanTests {
    @Test("Four times at first, then once a minute, never at the same moment as others")
    func steady() {
        var generator = SeededGenerator(seed: 1)
        var plan = AskingPlan()
        let delays = (0..<50).map { _ in plan.afterAnswer(using: &generator) }
        #expect(delays.prefix(3).allSatisfy { $0 == 500 })
        #expect(delays.dropFirst(3).allSatisfy { (60_000...64_000).contains($0) })
        #expect(Set(delays).count > 10)
    }

    @Test("Ever more seldom while nothing answers, and quickly again afterwards")
    func backOff() {
        var generator = SeededGenerator(seed: 1)
        var plan = AskingPlan()
        var longest: [UInt64] = []
        for failure in 0..<30 {
            let delay = plan.afterFailure(using: &generator)
            let bound = min(2_000 << UInt64(min(failure, 15)), 300_000) as UInt64
            #expect((bound / 2...bound).contains(delay))
            longest.append(delay)
        }
        #expect(longest.suffix(10).allSatisfy { $0 >= 150_000 })
        #expect(plan.afterAnswer(using: &generator) == 500)
    }
}
