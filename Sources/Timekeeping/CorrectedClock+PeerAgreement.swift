/// What one of two clocks without a server is worth, as both ends know it from what they told each other.
struct PeerAgreementClock: Hashable, Sendable {
    /// Corrected time minus the elapsed time of whoever compares.
    let offset: Int64
    /// Work has been shown under it: it only moves on.
    let isShown: Bool
    /// Otherwise it goes on from a floor, and is only known not to be ahead.
    let isPlausible: Bool

    /// How far off a clock may be and still count as one that was set; further ahead it moves no other (rule R6).
    static let tolerance: Int64 = 300_000_000

    /// Which of two that differ gives way. Never both; neither, when both have shown work and are far apart.
    func follows(_ other: PeerAgreementClock) -> Bool {
        let lead = other.offset - offset
        switch (isShown, other.isShown) {
        case (false, false):
            // Of what is only known not to be ahead the latest is nearest.
            if isPlausible != other.isPlausible { return other.isPlausible }
            return isPlausible ? lead < 0 : lead > 0
        case (true, true): return lead > 0 && (!isPlausible || lead <= Self.tolerance)
        case (true, false): return isWrongBeside(other)
        case (false, true): return !other.isWrongBeside(self)
        }
    }

    /// It is behind a clock that may be right, and has no better reason than a floor.
    private func isWrongBeside(_ other: PeerAgreementClock) -> Bool {
        !isPlausible && other.isPlausible && other.offset > offset
    }

    /// Whether two clocks stay apart.
    func isLeftAlone(by other: PeerAgreementClock) -> Bool { !follows(other) && !other.follows(self) }
}

/// Laptops that no server stands behind settle on one time among themselves (rule R5).
///
/// Those who have shown nothing can still stamp their work anew, forward or back: they agree on the earliest plausible
/// clock among them, and join one who has shown work. A time that others have seen only moves on (Lamport, "Time, Clocks,
/// and the Ordering of Events in a Distributed System", 1978), and by no more than a clock's error: what lies further ahead
/// is applied like everything else, but moves no clock (rule R6).
extension CorrectedClock {
    /// Less than this is not worth a step: what a laptop's clock may gain on another one in half a minute, thrice.
    static let leastStep: Int64 = 20_000

    /// Work that was stamped by this clock is being shown to somebody: without a server behind it, it only moves on.
    ///
    /// - Returns: what is to be kept of that; nil when it was so before.
    package mutating func onShown() -> ClockRecord? {
        guard !isSynchronised, !base.isShown else { return nil }
        base = base.shown
        return recordIfUseful(at: base.measured)
    }

    /// Another laptop without a server has answered.
    mutating func stepByAgreement(
        _ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at elapsed: Int64
    ) -> Int64? {
        guard !isSynchronised else { return nil }
        let own = raised(to: quality.floor, at: elapsed)
        let next = following(exchange, quality: quality, from: source, own: own)
        return next == base ? nil : adopt(next)
    }

    /// Whether work may be shown to a source that has answered, as far as time is concerned: the source's time is this
    /// clock's, or neither waits for the other. Otherwise one of them has yet to follow.
    package func isSettled(with exchange: TimeExchange, quality: ClockQuality, at elapsed: Int64) -> Bool {
        if isSynchronised || quality.isSynchronised || !Self.isCredible(exchange, at: elapsed) { return true }
        guard !isBelowFloor(exchange) else { return false }
        return !Self.differ(base, exchange)
            || PeerAgreementClock(base).isLeftAlone(by: PeerAgreementClock(exchange, quality: quality))
    }

    /// This clock, not before what another knows to be past; takes that over.
    private mutating func raised(to floor: Int64, at elapsed: Int64) -> ClockEstimate {
        if TimeExchange.plausibleTimes.contains(floor) { toldFloor = max(toldFloor, floor) }
        let missing = toldFloor - time(at: elapsed)
        guard missing > 0 else { return base }
        return ClockEstimate(
            offset: toldFloor - elapsed, uncertainty: base.uncertainty, measured: elapsed, stratum: base.stratum,
            source: base.source, isPlausible: base.isPlausible && missing <= PeerAgreementClock.tolerance)
    }

    private func following(
        _ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, own: ClockEstimate
    ) -> ClockEstimate {
        // It has not heard of this floor yet, and will come up to it before it is followed.
        guard !isBelowFloor(exchange) else { return own }
        guard Self.differ(own, exchange) else {
            var same = quality.isShown ? own.shown : own
            same.isPlausible = own.isPlausible || quality.isPlausible
            return same
        }
        let other = PeerAgreementClock(exchange, quality: quality)
        guard PeerAgreementClock(own).follows(other) else { return own }
        // As far as it is certainly there, whatever way the delay fell, so that nobody passes the one that leads, and two
        // laptops cannot push each other on, nor back.
        let error = exchange.delay / 2 + 2
        let earliestLeads = !own.isShown && !other.isShown && other.isPlausible
        return ClockEstimate(
            offset: exchange.offset + (earliestLeads ? error : -error), uncertainty: ClockQuality.unknownUncertainty,
            measured: exchange.returned,
            stratum: other.isShown ? ClockQuality.shownStratum : own.stratum, source: source,
            isPlausible: other.isPlausible)
    }

    private func isBelowFloor(_ exchange: TimeExchange) -> Bool { exchange.answered < toldFloor }

    private static func differ(_ own: ClockEstimate, _ exchange: TimeExchange) -> Bool {
        abs(exchange.offset - own.offset) > leastStep + exchange.delay / 2 + 2
    }
}

extension PeerAgreementClock {
    fileprivate init(_ estimate: ClockEstimate) {
        self.init(offset: estimate.offset, isShown: estimate.isShown, isPlausible: estimate.isPlausible)
    }

    fileprivate init(_ exchange: TimeExchange, quality: ClockQuality) {
        self.init(offset: exchange.offset, isShown: quality.isShown, isPlausible: quality.isPlausible)
    }
}
