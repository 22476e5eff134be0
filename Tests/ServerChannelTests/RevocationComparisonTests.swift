import Testing

@testable import ServerChannel

@Suite("When laptop and server compare whom the fleet has shut out")
struct RevocationComparisonTests {
    private let start = ContinuousClock.now

    @Test("Once for each difference, and not where there is none")
    func once() {
        var comparison = RevocationComparison()
        func isDue(_ mine: String, _ theirs: String) -> Bool {
            comparison.begin(RevocationNumbers(mine: mine, theirs: theirs), now: start)
        }
        #expect(!isDue("a", "a"))
        #expect(isDue("a", "b"))
        #expect(!isDue("a", "b"), "it did not become equal by that")
        #expect(isDue("a", "c") && isDue("b", "c"))
        #expect(!isDue("c", "c"))
    }

    @Test("What came to nothing is left alone for a minute, and then tried again")
    func rest() {
        var comparison = RevocationComparison()
        func isDue(_ theirs: String, after seconds: Int64 = 0) -> Bool {
            comparison.begin(RevocationNumbers(mine: "a", theirs: theirs), now: start + .seconds(seconds))
        }
        #expect(isDue("b"))
        comparison.fail(now: start)
        #expect(!isDue("b", after: 59))
        #expect(isDue("c"), "something else is news")
        comparison.fail(now: start)
        #expect(isDue("c", after: 60))
        #expect(!isDue("c", after: 600))
    }
}
