import Testing
import Timekeeping

private let day = 24 * hour

@Suite("Clocks that cannot be right")
struct FloorTests {
    /// How long before the tests begin the program was built.
    private static let age = trueStart - CorrectedClock.programFloor

    @Test("A clock from before the program goes on from the day that it was built, and says so")
    func deadBattery() {
        let anna = Laptop("anna", wallError: -trueStart)
        #expect(anna.error(0) == -Self.age)
        let quality = anna.clock.quality(at: anna.elapsed(hour))
        #expect(!quality.isPlausible && quality.floor == CorrectedClock.programFloor)
        #expect(anna.error(hour) == -Self.age)
    }

    @Test("It follows any clock that may be right, shown or not", arguments: [false, true], [false, true])
    func followsPlausible(hasShown: Bool, otherHasShown: Bool) {
        var anna = Laptop("anna", wallError: -trueStart)
        var bert = Laptop("bert", wallError: day)
        if hasShown { anna.show() }
        if otherHasShown { bert.show() }
        let settled = [bert.ask(anna, 0), anna.ask(bert, second), bert.ask(anna, 2 * second)]
        #expect(settled == [false, true, true])
        #expect(bert.steps.isEmpty && abs(anna.error(3 * second) - day) < 10_000)
        #expect(anna.clock.quality(at: 0).isPlausible)
    }

    @Test("Two of them agree on the later one, and follow together when somebody knows better")
    func noneIsPlausible() {
        var anna = Laptop("anna", wallError: -trueStart)
        var bert = Laptop("bert", wallError: -trueStart, remembered: nil)
        // Bert has been on for an hour longer: it is at least an hour later than it began.
        bert = Laptop("bert", wallError: -trueStart, elapsedStart: hour)
        var late = Laptop("late", wallError: -trueStart, elapsedStart: hour)
        late.ask(anna, 10 * minute)
        #expect(abs(late.error(10 * minute) + Self.age) < 10_000)
        bert.ask(anna, 11 * minute)
        anna.ask(bert, 12 * minute)
        let cleo = Laptop("cleo", wallError: -hour)
        for time in [13, 14] as [Int64] {
            bert.ask(cleo, time * minute)
            anna.ask(bert, time * minute + second)
        }
        for member in [anna, bert] { #expect(abs(member.error(hour) + hour) < 20_000, "\(member.name)") }
    }

    @Test("What a server told one of them is past for all, and across a boot")
    func serverTold() throws {
        var anna = Laptop("anna", wallError: 5 * minute)
        anna.askServer(0)
        anna.askServer(2 * hour)
        let record = try #require(anna.record)
        #expect(record.floor > trueStart - second)
        // Its battery is dead after the next boot: it is not earlier than it was.
        var after = Laptop(
            "anna", wallError: -day, elapsedStart: second, boot: "next", remembered: record)
        #expect(!after.clock.quality(at: 0).isPlausible)
        #expect(after.clock.time(at: after.elapsed(0)) == record.floor)
        // Bert is a month behind, and would lead as the earlier one: but that is before what the server told anna.
        var bert = Laptop("bert", wallError: -30 * day)
        for time in [1, 2, 3] as [Int64] {
            bert.ask(after, time * second)
            after.ask(bert, time * second + second / 2)
        }
        #expect(abs(bert.error(minute) - after.error(minute)) < 10_000)
        #expect(bert.clock.time(at: bert.elapsed(minute)) >= record.floor)
        #expect(bert.record?.floor == record.floor, "it tells others, also after a boot")
    }

    @Test("A floor moves a clock that was shown only forward")
    func shownClockIsRaised() {
        var anna = Laptop("anna", wallError: -30 * day)
        anna.show()
        var bert = Laptop("bert")
        bert.askServer(0)
        bert = Laptop("bert", elapsedStart: second, boot: "next", remembered: bert.record)
        let settled = [bert.ask(anna, 0), anna.ask(bert, second), bert.ask(anna, 2 * second)]
        #expect(settled == [false, true, true])
        #expect(abs(anna.error(3 * second)) < 10_000 && anna.isShown)
        #expect(bert.isShown && bert.steps.isEmpty)
    }

    @Test("A floor that no time can have is not believed, and who has a server believes none")
    func absurdFloor() {
        for floor in [Int64.max, .min, -1, 8_000_000_000_000_000] {
            var anna = Laptop("anna")
            anna.hear(floor: floor)
            #expect(anna.error(minute) == 0 && anna.clock.floor(at: 0) == CorrectedClock.programFloor)
        }
        var bert = Laptop("bert")
        bert.askServer(0)
        bert.hear(floor: trueStart + 365 * day)
        #expect(abs(bert.error(minute)) < 20 && bert.clock.floor(at: bert.elapsed(minute)) < trueStart + minute)
        // A server heals what a liar has said.
        var cleo = Laptop("cleo")
        cleo.hear(floor: trueStart + 365 * day)
        #expect(cleo.error(0) > 364 * day)
        cleo.askServer(minute)
        #expect(abs(cleo.error(minute)) < 20)
        #expect((cleo.record?.floor ?? .max) < trueStart + 2 * minute)
    }

    @Test("Two whose battery is dead go by their wall clock again when it is put right")
    func putRight() {
        var (anna, bert) = (Laptop("anna", wallError: -trueStart), Laptop("bert", wallError: -trueStart))
        anna.ask(bert, minute)
        bert.ask(anna, 2 * minute)
        let after = Laptop("anna", elapsedStart: second, boot: "next", remembered: anna.record)
        #expect(after.error(0) == 0 && after.clock.quality(at: 0).isPlausible)
    }
}

extension Laptop {
    fileprivate mutating func hear(floor: Int64) {
        let time = clock.time(at: elapsed(0))
        hear(
            TimeExchange(sent: elapsed(0), received: time, answered: time, returned: elapsed(0)),
            quality: ClockQuality(stratum: 16, uncertainty: ClockQuality.unknownUncertainty, floor: floor),
            from: .peer("stranger"), at: 0)
    }
}
