/// Tells from two clocks of the machine whether it has slept: one of them stands still meanwhile.
package struct SuspendDetector: Sendable {
    /// What the two clocks said at one moment, in microseconds.
    package struct Reading: Hashable, Sendable {
        /// Of the clock that goes on during suspend (CLOCK_BOOTTIME).
        package let elapsed: Int64
        /// Of the one that does not (CLOCK_MONOTONIC).
        package let awake: Int64

        /// Takes both as they are.
        package init(elapsed: Int64, awake: Int64) {
            self.elapsed = elapsed
            self.awake = awake
        }

        fileprivate var asleep: Int64 { elapsed - awake }
    }

    /// A shorter sleep harms no connection, and two clocks cannot be read at the very same moment, in microseconds.
    package static let shortest: Int64 = 500_000

    private var asleep: Int64

    /// Begins with what the clocks say now: what was slept before does not count.
    package init(_ reading: Reading) {
        asleep = reading.asleep
    }

    /// - Returns: for how long the machine has slept since it was last told, in microseconds; nil when it has not. Short sleeps
    ///   add up until they are worth telling.
    package mutating func onReading(_ reading: Reading) -> Int64? {
        let slept = reading.asleep - asleep
        // Time awake cannot be longer than time: whatever made it look so, it goes on from here.
        if slept < 0 { asleep = reading.asleep }
        guard slept >= Self.shortest else { return nil }
        asleep = reading.asleep
        return slept
    }
}
