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
        clock.withLock { clock in
            ReceiveTime(
                milliseconds: UInt64(clamping: clock.time(at: SystemClock.elapsedMicroseconds) / 1_000),
                isSynchronised: clock.isSynchronised)
        }
    }

    var overview: ClockOverview {
        clock.withLock { $0.overview(at: SystemClock.elapsedMicroseconds, wall: SystemClock.wallMicroseconds) }
    }

    /// The answer to a ping that came at a time of the elapsed clock, in milliseconds.
    func pong(_ number: UInt64, received: UInt64) -> Message {
        clock.withLock { clock in
            let elapsed = SystemClock.elapsedMicroseconds
            // It may have come at the end of its millisecond: what is not known for sure counts as the way here.
            let latest = min(Int64(clamping: received) * 1_000 + 999, elapsed)
            return .pong(
                number, received: clock.time(at: latest), answered: clock.time(at: elapsed),
                clock.quality(at: elapsed))
        }
    }

    /// What follows from a source's answer.
    struct Lesson: Sendable {
        /// What was not synchronised stepped by so much; nil when nothing stepped.
        var step: Int64?
        var record: ClockRecord?
        let isSynchronised: Bool
        /// The clock became synchronised, or stepped: what waits for its time is to be looked at.
        let isNews: Bool
        /// As `CorrectedClock.isSettled`.
        let isSettled: Bool
    }

    func learn(_ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource) -> Lesson {
        clock.withLock { clock in
            let wasSynchronised = clock.isSynchronised
            let elapsed = SystemClock.elapsedMicroseconds
            let directives = clock.onExchange(
                exchange, quality: quality, from: source, at: elapsed, wall: SystemClock.wallMicroseconds)
            var (step, record) = (Int64?.none, ClockRecord?.none)
            for directive in directives {
                switch directive {
                case .restamp(let milliseconds): step = milliseconds
                case .remember(let kept): record = kept
                }
            }
            let isSettled = clock.isSettled(with: exchange, quality: quality, at: elapsed)
            return Lesson(
                step: step, record: record, isSynchronised: clock.isSynchronised,
                isNews: step != nil || clock.isSynchronised != wasSynchronised, isSettled: isSettled)
        }
    }
}
