import Testing
import Timekeeping

@Suite("A clock that starts again")
struct RestartTests {
    @Test("In the same boot it goes on as it was, older, whatever the wall clock says now")
    func sameBoot() throws {
        var before = Laptop("anna", wallError: 3 * hour, partsPerMillion: 100)
        before.askServer(0)
        let record = try #require(before.record)
        let later = 2 * hour
        let after = CorrectedClock(
            boot: "boot", elapsed: before.elapsed(later), wall: trueStart - 77 * hour, remembered: record)
        #expect(after.isSynchronised)
        #expect(after.time(at: before.elapsed(later)) == before.clock.time(at: before.elapsed(later)))
        #expect(after.quality(at: before.elapsed(later)) == before.clock.quality(at: before.elapsed(later)))
        #expect(after.quality(at: 0).uncertainty < before.uncertainty(later))
    }

    @Test("A record that cannot be one is forgotten", arguments: [.min, .max, 1 << 61] as [Int64])
    func damaged(number: Int64) {
        let now = 5 * second
        for place in 0..<4 {
            func value(_ index: Int) -> Int64 { index == place ? number : 0 }
            let record = ClockRecord(
                boot: "boot", offset: value(0), uncertainty: value(1), stratum: 1, measured: min(value(2), now),
                source: .server,
                wallDrift: value(3))
            for boot in ["boot", "next"] {
                let clock = CorrectedClock(boot: boot, elapsed: now, wall: trueStart, remembered: record)
                let overview = clock.overview(at: now, wall: trueStart)
                let isForgotten = record.measured == now || overview.time == trueStart && overview.drift == 0
                #expect(isForgotten)
            }
        }
    }

    @Test("A guess, too, is kept for the rest of the boot")
    func guessOfTheSameBoot() throws {
        let before = Laptop("anna", wallError: hour)
        let record = try #require(before.record)
        let after = CorrectedClock(
            boot: "boot", elapsed: before.elapsed(minute), wall: trueStart - 9 * hour, remembered: record)
        #expect(!after.isSynchronised)
        #expect(after.time(at: 0) == before.clock.time(at: 0))
        #expect(after.initialRecord == nil, "a guess does not measure the wall clock")
        let again = CorrectedClock(
            boot: "boot", elapsed: before.elapsed(minute), wall: before.wall(minute), remembered: record)
        #expect(again.initialRecord == nil, "nothing is news")
    }

    @Test("After another boot the wall clock is corrected by what it was wrong by, and counts as a guess")
    func anotherBoot() {
        var before = Laptop("anna", wallError: 3 * hour)
        before.askServer(0)
        var after = Laptop(
            "anna", wallError: 3 * hour + minute, elapsedStart: 5 * second, boot: "next", remembered: before.record
        )
        #expect(!after.clock.isSynchronised)
        #expect(abs(after.error(0) - minute) <= 2, "a minute later")
        #expect(after.record?.boot == "next")
        after.askServer(minute, serverError: minute)
        #expect(after.clock.isSynchronised && after.steps == [0], "the guess was right, and what hangs on it is told")
    }

    @Test("A clock that has heard nobody for weeks says how unsure it is")
    func weeks() {
        var clock = Laptop("anna", wallError: hour)
        clock.askServer(0)
        let uncertainty = clock.uncertainty(20 * 24 * hour)
        #expect(uncertainty > 5 * minute && uncertainty < 6 * minute)
    }

    @Test("A clock that was set in mid-session is known by its new error after the next boot")
    func setInMidSession() {
        var before = Laptop("anna", wallError: 3 * hour)
        before.askServer(0)
        before.wallError = -hour
        before.askServer(minute)
        let after = Laptop(
            "anna", wallError: -hour + 2 * minute, elapsedStart: 5 * second, boot: "next", remembered: before.record)
        #expect(abs(after.error(0) - 2 * minute) <= 2, "two minutes later")
    }

    @Test("A clock that began in 1970 and was put right is believed after the next boot, if nobody ever said otherwise")
    func guessOfADeadBattery() {
        let dead = Laptop("anna", wallError: -trueStart)
        let restarted = Laptop("anna", elapsedStart: 91 * minute, remembered: dead.record)
        #expect(restarted.clock.time(at: 0) == dead.clock.time(at: 0), "it goes on as it was for the rest of the boot")
        let after = Laptop(
            "anna", elapsedStart: 5 * second, boot: "next", remembered: restarted.record ?? dead.record)
        #expect(after.error(0) == 0)
    }

    @Test("A record from later in this boot is of another machine's: it is not taken up")
    func fromTheFuture() {
        var before = Laptop("anna")
        before.askServer(hour)
        let after = CorrectedClock(boot: "boot", elapsed: 5, wall: trueStart, remembered: before.record)
        #expect(!after.isSynchronised)
    }

    @Test("A day with a server is not a day of writes")
    func fewWrites() {
        var anna = Laptop("anna", partsPerMillion: 40)
        for time in times(from: 0, to: 24 * hour, every: 64 * second) { anna.askServer(time) }
        #expect((10...100).contains(anna.records.count), "\(anna.records.count)")
    }

    @Test("A step comes with what is to be kept of it, and it is not taken again after the next start")
    func together() {
        var anna = Laptop("anna", wallError: hour)
        anna.askServer(0)
        #expect(anna.steps == [-3_600_000] && anna.records.count == 1)
        var after = Laptop("anna", wallError: hour, remembered: anna.record)
        after.askServer(minute)
        #expect(after.steps.allSatisfy { $0.magnitude < 100 })
    }
}
