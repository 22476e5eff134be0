import Replication
import Storage
import Synchronization
import Timekeeping

/// The daemon's corrected time, for everybody who asks (rule R5).
///
/// What its sources say comes in through the `Replicator`, which carries out what follows from it.
final class ClockKeeper: Sendable {
    private let clock: Mutex<CorrectedClock>
    /// To be kept before anything else.
    let initialRecord: ClockRecord?

    init(remembered: ClockRecord?) {
        let clock = CorrectedClock(
            boot: SystemClock.bootID, elapsed: SystemClock.elapsedMicroseconds, wall: SystemClock.wallMicroseconds,
            remembered: remembered)
        initialRecord = clock.initialRecord
        self.clock = Mutex(clock)
    }

    /// Corrected time in milliseconds since 1970, and whether a server is behind it.
    var now: ReceiveTime {
        clock.withLock { Self.now(of: $0) }
    }

    private static func now(of clock: CorrectedClock) -> ReceiveTime {
        let elapsed = SystemClock.elapsedMicroseconds
        return ReceiveTime(
            milliseconds: UInt64(clamping: clock.time(at: elapsed) / 1_000), isSynchronised: clock.isSynchronised)
    }

    var overview: ClockOverview {
        clock.withLock { $0.overview(at: SystemClock.elapsedMicroseconds, wall: SystemClock.wallMicroseconds) }
    }

    /// The answer to a ping that came at a time of the elapsed clock, in milliseconds.
    func pong(_ number: UInt64, received: UInt64) -> Message {
        clock.withLock { clock in
            let elapsed = SystemClock.elapsedMicroseconds
            return .pong(
                number, received: clock.time(ofPingAt: received, answeredAt: elapsed),
                answered: clock.time(at: elapsed),
                clock.quality(at: elapsed))
        }
    }

    /// What follows from what a source has said.
    struct Lesson: Sendable {
        /// The time steps, and work that nobody has seen with it; not in force yet, see `take`.
        let step: ClockStep?
        /// To be kept, when it does not step.
        let record: ClockRecord?
        let isSettled: Bool
        let hasChanged: Bool
    }

    /// A source has said something. It is in force at once, unless the time steps by it.
    func hear(_ told: ToldTime) -> Lesson {
        clock.withLock { clock in
            var heard = clock
            let (lesson, step) = Self.learn(told, &heard)
            if step == nil { clock = heard }
            return Lesson(
                step: step, record: lesson.record, isSettled: lesson.isSettled, hasChanged: lesson.hasChanged)
        }
    }

    /// Lets the time step by what a source has said. Nil when there is nothing to keep: another source was quicker.
    ///
    /// When the step cannot be made durable, the time is as it was before it, and will be learned again.
    func take(_ told: ToldTime) -> TakenStep? {
        clock.withLock { clock in
            let before = clock
            let (lesson, step) = Self.learn(told, &clock)
            let taken = step ?? lesson.record.map { ClockStep(milliseconds: 0, now: Self.now(of: clock), record: $0) }
            return taken.map { TakenStep($0) { [self] in self.clock.withLock { $0 = before } } }
        }
    }

    /// Work that was stamped by this clock is being shown to somebody.
    ///
    /// - Returns: what is to be kept of that; mostly nil, because it was so before.
    func noteShown() -> ClockRecord? {
        clock.withLock { $0.onShown() }
    }

    private static func learn(_ told: ToldTime, _ clock: inout CorrectedClock) -> (ClockLesson, ClockStep?) {
        let lesson = clock.hear(
            told.exchange, quality: told.quality, from: told.source, at: SystemClock.elapsedMicroseconds,
            wall: SystemClock.wallMicroseconds)
        let step = lesson.stepMilliseconds.map {
            ClockStep(milliseconds: $0, now: now(of: clock), record: lesson.record)
        }
        return (lesson, step)
    }
}
