import CRDT
import Testing
import Timekeeping

@Suite("A clock that asks a server")
struct ServerTimeTests {
    @Test("A laptop alone says that it does not know the time")
    func alone() {
        let anna = Laptop("anna", wallError: 3 * hour)
        #expect(!anna.clock.isSynchronised)
        #expect(anna.clock.quality(at: anna.elapsed(0)).stratum == 16)
        #expect(anna.error(hour) == 3 * hour, "the wall clock is its guess")
        let overview = anna.clock.overview(at: anna.elapsed(0), wall: anna.wall(0))
        #expect(overview.source == nil && overview.age == nil && overview.drift == 0)
    }

    @Test("One answer puts the time right, and what was written before is shifted by the step", arguments: [3, -48])
    func learnsTheTime(hoursWrong: Int64) {
        var anna = Laptop("anna", wallError: hoursWrong * hour)
        anna.askServer(0)
        #expect(abs(anna.error(second)) <= 2)
        #expect(anna.steps == [-hoursWrong * 3_600_000])
        let overview = anna.clock.overview(at: anna.elapsed(minute), wall: anna.wall(minute))
        #expect(overview.source == .server && overview.isSynchronised && overview.stratum == 1)
        #expect(abs(overview.drift - hoursWrong * hour) <= 2)
        #expect(overview.age == minute - 20_000)
        anna.askServer(minute)
        #expect(anna.steps.count == 1, "what was written with a known time is never shifted")
    }

    @Test("However the delay falls on the two ways, the error stays within what is claimed", arguments: UInt64(1)...40)
    func asymmetricDelay(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var anna = Laptop(
            "anna", wallError: Int64.random(in: -100...100, using: &random) * hour,
            partsPerMillion: Int64.random(in: -190...190, using: &random))
        var time: Int64 = 0
        for _ in 0..<60 {
            let longest: Int64 = Bool.random(using: &random) ? 3_000 : 3 * second
            anna.askServer(
                time, there: .random(in: 0...longest, using: &random), back: .random(in: 0...longest, using: &random))
            for later in [7 * second, 20 * second, 60 * second] {
                #expect(abs(anna.error(time + later)) <= anna.uncertainty(time + later), "seed \(seed)")
            }
            time += 64 * second
        }
    }

    @Test("A clock that drifts by 200 ppm is within what it claims, a month long", arguments: [200, -200] as [Int64])
    func drift(partsPerMillion: Int64) {
        var anna = Laptop("anna", partsPerMillion: partsPerMillion)
        anna.askServer(0)
        for step in times(from: minute, to: 30 * 24 * hour, every: 317 * minute) {
            #expect(abs(anna.error(step)) <= anna.uncertainty(step))
        }
        #expect(abs(anna.error(24 * hour)) > 17 * second, "it does drift")
    }

    @Test("A quick answer is believed rather than slow ones that come after it")
    func lowestDelay() {
        var anna = Laptop("anna")
        anna.askServer(0, there: 5_000, back: 5_000)
        for count in 1...7 as ClosedRange<Int64> { anna.askServer(count * second, there: 400_000, back: 1_000) }
        #expect(abs(anna.error(8 * second)) <= 2)
    }

    @Test("An answer that comes late, or again, changes nothing")
    func outOfOrder() {
        var anna = Laptop("anna")
        anna.askServer(0)
        anna.askServer(minute)
        let before = anna.clock.time(at: 0)
        let old = anna.elapsed(30 * second)
        let late = TimeExchange(
            sent: old, received: trueStart + hour, answered: trueStart + hour, returned: old + 2)
        anna.hear(late, quality: ClockQuality(stratum: 0, uncertainty: 0), from: .server, at: 2 * minute)
        #expect(anna.clock.time(at: 0) == before)
    }

    @Test("A server whose own clock is put right is followed at once")
    func serverSteps() {
        var anna = Laptop("anna")
        anna.askServer(0, serverError: hour)
        anna.askServer(minute, there: 100_000, back: 100_000)
        #expect(abs(anna.error(minute)) <= 20_000)
    }

    @Test("The wall clock may be set to anything while the daemon runs: no time changes by it")
    func wallClockJumps() {
        var (steady, jumpy) = (Laptop("a"), Laptop("b"))
        for count in 0..<50 as Range<Int64> {
            jumpy.wallError = (count % 7 - 3) * 1_000 * hour
            steady.askServer(count * minute)
            jumpy.askServer(count * minute)
            #expect(steady.clock.time(at: 5) == jumpy.clock.time(at: 5))
        }
    }

    @Test("A night of suspend costs certainty and nothing else")
    func suspend() {
        var anna = Laptop("anna", partsPerMillion: 30)
        anna.askServer(0)
        let morning = 9 * hour
        #expect(abs(anna.error(morning)) <= anna.uncertainty(morning))
        anna.askServer(morning)
        #expect(abs(anna.error(morning + second)) < 1_000)
        #expect(anna.uncertainty(morning + second) < 20_000)
    }
}
