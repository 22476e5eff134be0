import Testing
import Timekeeping

@Suite("Answers that cannot be true")
struct LiarTests {
    private static let now = Laptop("anna").elapsed(minute)

    /// Each says that it is an hour later than it is.
    static let impossible: [(String, TimeExchange)] = [
        ("back before it could be", exchange(answeredAfter: 60_000, returnedAfter: 20_000)),
        ("answered before it was asked", exchange(answeredAfter: -1, returnedAfter: 20_000)),
        ("returned before it was sent", exchange(answeredAfter: 0, returnedAfter: -5)),
        ("slower than anybody waits", exchange(answeredAfter: 0, returnedAfter: 61 * second)),
        ("from the first days of Unix", TimeExchange(sent: now, received: 5, answered: 6, returned: now)),
        ("from the end of numbers", TimeExchange(sent: now, received: .max - 1, answered: .max, returned: now)),
        ("from before the beginning", TimeExchange(sent: .min, received: .min, answered: .max, returned: .max)),
    ]

    private static func exchange(answeredAfter: Int64, returnedAfter: Int64) -> TimeExchange {
        let received = trueStart + minute + hour
        return TimeExchange(
            sent: now, received: received, answered: received + answeredAfter, returned: now + returnedAfter)
    }

    @Test("change nothing, known server or not", arguments: impossible, [0, 1, 16, 255] as [UInt8])
    func changeNothing(named: (String, TimeExchange), stratum: UInt8) {
        for isSynchronised in [false, true] {
            var anna = Laptop("anna")
            if isSynchronised { anna.askServer(0) }
            let before = anna.clock.overview(at: Self.now, wall: 0)
            for source in [.server, .peer("liar")] as [TimeSource] {
                anna.hear(
                    named.1, quality: ClockQuality(stratum: stratum, uncertainty: 0), from: source, at: 3 * minute)
            }
            #expect(anna.clock.overview(at: Self.now, wall: 0) == before, "\(named.0)")
        }
    }

    @Test(
        "A clock that claims what no clock can claim is not followed",
        arguments: [
            ClockQuality(stratum: 0, uncertainty: 0), ClockQuality(stratum: 1, uncertainty: -1),
            ClockQuality(stratum: 14, uncertainty: 0), ClockQuality(stratum: 2, uncertainty: .max),
        ])
    func absurdQuality(quality: ClockQuality) {
        var anna = Laptop("anna")
        let before = anna.clock.time(at: 0)
        anna.hear(
            Self.exchange(answeredAfter: 0, returnedAfter: 5), quality: quality, from: .peer("liar"), at: 2 * minute)
        #expect(anna.clock.time(at: 0) == before && !anna.clock.isSynchronised)
    }

    @Test("A thousand strangers are not all remembered, and the source that is heard still counts")
    func manyStrangers() {
        var anna = Laptop("anna")
        anna.askServer(0)
        var bert = Laptop("bert", wallError: hour)
        for count in 0..<1_000 as Range<Int64> {
            let time = count * 1_000
            let received = trueStart + time
            let exchange = TimeExchange(
                sent: bert.elapsed(time), received: received, answered: received, returned: bert.elapsed(time) + 50)
            bert.hear(
                exchange, quality: ClockQuality(stratum: 1, uncertainty: 9_000), from: .peer("\(count)"), at: second)
        }
        bert.ask(anna, minute)
        #expect(abs(bert.error(minute)) < 20_000)
    }
}
