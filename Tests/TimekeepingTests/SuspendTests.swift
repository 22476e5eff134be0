import Testing
import Timekeeping

@Suite("Whether the machine has slept")
struct SuspendTests {
    private func reading(_ elapsed: Int64, awake: Int64) -> SuspendDetector.Reading {
        SuspendDetector.Reading(elapsed: elapsed, awake: awake)
    }

    @Test("Clocks that go on together tell of no sleep, however far apart they are")
    func awake() {
        var detector = SuspendDetector(reading(900_000_000, awake: 1_000_000))
        #expect(detector.onReading(reading(900_000_000, awake: 1_000_000)) == nil)
        #expect(detector.onReading(reading(5_900_000_200, awake: 5_001_000_000)) == nil)
    }

    @Test("A sleep is told once, with its length")
    func asleep() {
        var detector = SuspendDetector(reading(0, awake: 0))
        #expect(detector.onReading(reading(65_000_000, awake: 5_000_000)) == 60_000_000)
        #expect(detector.onReading(reading(66_000_000, awake: 6_000_000)) == nil)
        #expect(detector.onReading(reading(76_000_000, awake: 7_000_000)) == 9_000_000)
    }

    @Test("Short sleeps are passed over until they add up")
    func shortSleeps() {
        var detector = SuspendDetector(reading(0, awake: 0))
        #expect(detector.onReading(reading(1_300_000, awake: 1_000_000)) == nil)
        #expect(detector.onReading(reading(2_600_000, awake: 2_000_000)) == 600_000)
    }

    @Test("Clocks that seem to run backwards hide no later sleep")
    func backwards() {
        var detector = SuspendDetector(reading(10_000_000, awake: 0))
        #expect(detector.onReading(reading(5_000_000, awake: 1_000_000)) == nil)
        #expect(detector.onReading(reading(7_000_000, awake: 2_000_000)) == 1_000_000)
    }
}
