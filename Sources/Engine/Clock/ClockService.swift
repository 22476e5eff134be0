import Replication
package import Storage
import Synchronization
package import Timekeeping

/// The daemon's corrected time, for everybody who asks (rule R5).
///
/// What its sources say comes in through the `Replicator`, which carries out what follows from it.
package final class ClockService: Sendable {
    private let clock: Mutex<CorrectedClock>
    private let machine: any Machine
    /// To be kept before anything else.
    package let initialRecord: ClockRecord?

    /// - Parameters:
    ///   - remembered: what an earlier start kept.
    ///   - built: a time before which the program cannot run, in microseconds since 1970.
    package init(remembered: ClockRecord?, machine: any Machine, built: Int64 = CorrectedClock.programFloor) {
        let clock = CorrectedClock(
            boot: machine.bootID, elapsed: machine.elapsedMicroseconds, wall: machine.wallMicroseconds,
            remembered: remembered, built: built)
        initialRecord = clock.initialRecord
        self.machine = machine
        self.clock = Mutex(clock)
    }

    /// Corrected time in milliseconds since 1970, and whether a server is behind it.
    package var now: ReceiveTime {
        clock.withLock { now(of: $0) }
    }

    private func now(of clock: CorrectedClock) -> ReceiveTime {
        let elapsed = machine.elapsedMicroseconds
        return ReceiveTime(
            milliseconds: UInt64(clamping: clock.time(at: elapsed) / 1_000), isSynchronised: clock.isSynchronised)
    }

    /// Between which times it certainly is now, in milliseconds since 1970; without an upper end while no server is behind it.
    package var possibleTimes: ClosedRange<Int64> {
        clock.withLock { clock in
            let elapsed = machine.elapsedMicroseconds
            let quality = clock.quality(at: elapsed)
            let floor = quality.floor / 1_000
            guard quality.isSynchronised else { return floor...Int64.max }
            return floor...max(floor, (clock.time(at: elapsed) + quality.uncertainty) / 1_000)
        }
    }

    /// For people: source, drift, uncertainty, age.
    package var overview: ClockOverview {
        clock.withLock { $0.overview(at: machine.elapsedMicroseconds, wall: machine.wallMicroseconds) }
    }

    /// The answer to a ping that came at a time of the elapsed clock, in milliseconds.
    func pong(_ number: UInt64, received: UInt64) -> Message {
        clock.withLock { clock in
            let elapsed = machine.elapsedMicroseconds
            return .pong(
                number, received: clock.time(ofPingAt: received, answeredAt: elapsed),
                answered: clock.time(at: elapsed),
                clock.quality(at: elapsed))
        }
    }

    /// A source has told the time. It is in force at once, unless the time steps by it; see `adopt`.
    func hear(_ sample: TimeSample) -> ClockUpdate {
        clock.withLock { clock in
            var heard = clock
            let update = hear(sample, by: &heard)
            if update.stepMilliseconds == nil { clock = heard }
            return update
        }
    }

    /// Lets the time step by what a source has told. Nil when there is nothing to keep: another source was quicker.
    ///
    /// When the step cannot be made durable, the time is as it was before it, and will be learned again.
    func adopt(_ sample: TimeSample) -> TakenStep? {
        clock.withLock { clock in
            let before = clock
            let update = hear(sample, by: &clock)
            guard update.stepMilliseconds != nil || update.record != nil else { return nil }
            let step = ClockStep(
                milliseconds: update.stepMilliseconds ?? 0, now: now(of: clock), record: update.record)
            return TakenStep(step) { [self] in self.clock.withLock { $0 = before } }
        }
    }

    /// Work that was stamped by this clock is being shown to somebody.
    ///
    /// - Returns: what is to be kept of that; mostly nil, because it was so before.
    package func noteShown() -> ClockRecord? {
        clock.withLock { $0.onShown() }
    }

    private func hear(_ sample: TimeSample, by clock: inout CorrectedClock) -> ClockUpdate {
        clock.hear(
            sample.exchange, quality: sample.quality, from: sample.source, at: machine.elapsedMicroseconds,
            wall: machine.wallMicroseconds)
    }
}
