/// What follows from what a source has said of the time, for a shell to carry out.
package struct ClockUpdate: Hashable, Sendable {
    /// By how much the time steps, in milliseconds, and work that nobody has seen with it; nil when it does not.
    package let stepMilliseconds: Int64?
    /// To be kept durably, together with the step.
    package let record: ClockRecord?
    /// As `CorrectedClock.isSettled`.
    package let isSettled: Bool
}

extension CorrectedClock {
    /// As `onExchange`, summed up.
    package mutating func hear(
        _ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at elapsed: Int64, wall: Int64?
    ) -> ClockUpdate {
        var step: Int64?
        var record: ClockRecord?
        for directive in onExchange(exchange, quality: quality, from: source, at: elapsed, wall: wall) {
            switch directive {
            case .restamp(let milliseconds): step = milliseconds
            case .remember(let kept): record = kept
            }
        }
        // A clock that had a server behind it does not step, but may be put right by minutes.
        return ClockUpdate(
            stepMilliseconds: step, record: record,
            isSettled: isSettled(with: exchange, quality: quality, at: elapsed))
    }

    /// When a ping came that was noted at a millisecond of the elapsed clock. It may have come at the end of it: what is
    /// not known for sure counts as the way here.
    package func time(ofPingAt milliseconds: UInt64, answeredAt elapsed: Int64) -> Int64 {
        time(at: min(Int64(clamping: milliseconds) * 1_000 + 999, elapsed))
    }
}
