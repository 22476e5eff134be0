/// The time that stamps are made of (rule R5): the machine's elapsed time plus a measured offset.
///
/// A value; all times are microseconds. `elapsed` is of a clock that never goes back and goes on during suspend
/// (CLOCK_BOOTTIME). The wall clock is looked at once, at the start, to guess the offset of a laptop that knows nothing
/// better; afterwards it is only measured, for people and for the guess after the next boot.
///
/// Of sources with a server behind them the one with the least uncertainty is followed. Since uncertainty only grows with
/// time and along a path, what comes back to a clock over others is always worse than what it has: nobody follows itself.
package struct CorrectedClock: Sendable {
    private let boot: String
    var base: ClockEstimate
    /// The latest time that is certainly past, as far as it was told: `floor(at:)`.
    var toldFloor: Int64
    private let built: Int64
    private var filters = ClockFilters()
    /// The wall clock minus elapsed time, when it was last looked at.
    private var wallOffset: Int64
    private var remembered: ClockRecord
    /// What to keep before anything else: nil when what was remembered is still all true.
    package let initialRecord: ClockRecord?

    /// 2026: before that there was no such program. A year is enough to tell a dead battery, and a build that anybody can
    /// repeat carries no date of its own.
    package static let programFloor: Int64 = 1_767_225_600_000_000

    /// - Parameters:
    ///   - boot: tells one boot of the machine from another.
    ///   - wall: since 1970, by the machine's own clock.
    ///   - remembered: what an earlier start kept; of this boot it is taken up again, of another it says how wrong the
    ///     wall clock was.
    ///   - built: a time before which the program cannot run, in microseconds since 1970.
    package init(
        boot: String, elapsed: Int64, wall: Int64, remembered: ClockRecord?, built: Int64 = Self.programFloor
    ) {
        // What a damaged store remembers must not end the program.
        let remembered = remembered.flatMap { $0.isWithinBounds ? $0 : nil }
        self.boot = boot
        self.built = built
        let floor = max(built, remembered?.floor ?? 0)
        toldFloor = floor
        wallOffset = wall - elapsed
        if let remembered, remembered.boot == boot, remembered.measured <= elapsed {
            base = remembered.estimate
            self.remembered = remembered
        } else {
            let drift = remembered?.wallDrift ?? 0
            let guess = wall - drift
            base = ClockEstimate(
                offset: max(guess, floor) - elapsed, uncertainty: ClockQuality.unknownUncertainty, measured: elapsed,
                stratum: ClockQuality.unsynchronisedStratum, source: nil,
                isPlausible: floor - guess <= PeerAgreementClock.tolerance)
            self.remembered = ClockRecord(base, boot: boot, wallDrift: drift, floor: floor)
        }
        let now = ClockRecord(
            base, boot: boot, wallDrift: Self.drift(of: wallOffset, from: base, known: self.remembered.wallDrift),
            floor: floor)
        let isKnown = self.remembered == remembered && !now.hasOtherWall(than: self.remembered)
        initialRecord = isKnown ? nil : now
        if !isKnown { self.remembered = now }
    }

    // MARK: What it says

    /// Corrected time since 1970.
    package func time(at elapsed: Int64) -> Int64 { elapsed + base.offset }

    /// What it tells other laptops of itself.
    package func quality(at elapsed: Int64) -> ClockQuality {
        ClockQuality(
            stratum: base.stratum, uncertainty: base.uncertainty(at: elapsed), floor: floor(at: elapsed),
            isPlausible: base.isPlausible)
    }

    /// The latest time that is certainly past: not before the program was built, nor before any time that a server told this
    /// laptop or one that it met. With a server behind the clock that is now.
    package func floor(at elapsed: Int64) -> Int64 {
        isSynchronised ? max(built, time(at: elapsed) - base.uncertainty(at: elapsed)) : toldFloor
    }

    /// A server is behind it, however many steps away.
    package var isSynchronised: Bool { base.isSynchronised }

    /// What it tells people.
    ///
    /// - Parameter wall: the machine's own clock now, since 1970.
    package func overview(at elapsed: Int64, wall: Int64) -> ClockOverview {
        ClockOverview(
            source: base.source, isSynchronised: isSynchronised, stratum: base.stratum,
            drift: wall - time(at: elapsed), uncertainty: base.uncertainty(at: elapsed),
            age: base.source.map { _ in max(0, elapsed - base.measured) }, time: time(at: elapsed))
    }

    /// When a ping came that was noted at a millisecond of the elapsed clock. It may have come at the end of it: what is
    /// not known for sure counts as the way here.
    package func time(ofPingAt milliseconds: UInt64, answeredAt elapsed: Int64) -> Int64 {
        time(at: min(Int64(clamping: milliseconds) * 1_000 + 999, elapsed))
    }

    // MARK: What it hears

    /// A source has answered. What cannot be true changes nothing.
    ///
    /// - Parameters:
    ///   - quality: what the source says of its own clock.
    ///   - wall: the machine's own clock now, if it is known: only to know its drift.
    package mutating func hear(
        _ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at elapsed: Int64, wall: Int64? = nil
    ) -> ClockUpdate {
        if let wall { wallOffset = wall - elapsed }
        let step = step(after: exchange, quality: quality, from: source, at: elapsed)
        // A clock that had a server behind it does not step, but may be put right by minutes.
        return ClockUpdate(
            stepMilliseconds: step, record: recordIfUseful(at: elapsed),
            isSettled: isSettled(with: exchange, quality: quality, at: elapsed))
    }

    private mutating func step(
        after exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at elapsed: Int64
    ) -> Int64? {
        guard Self.isCredible(exchange, at: elapsed) else { return nil }
        if !quality.isSynchronised {
            // What it said while a server stood behind it is no longer what it says.
            filters[source] = ClockFilter()
            return stepByAgreement(exchange, quality: quality, from: source, at: elapsed)
        }
        let sample = quality.isUsable(from: source) ? ClockEstimate(exchange, quality: quality, from: source) : nil
        guard let sample, filters.add(sample, from: source) else { return nil }
        return better(than: base, after: sample, at: elapsed).flatMap { adopt($0) }
    }

    static func isCredible(_ exchange: TimeExchange, at elapsed: Int64) -> Bool {
        exchange.isPlausible && exchange.returned < elapsed + 1_000
    }

    /// What to follow after a new sample; nil when it stays as it is.
    private mutating func better(
        than base: ClockEstimate, after sample: ClockEstimate, at elapsed: Int64
    ) -> ClockEstimate? {
        guard let source = sample.source, base.isSynchronised else { return sample }
        let isSameSource = base.source == source
        if sample.contradicts(base, at: elapsed) {
            // The source's clock has stepped, or somebody nearer to the server knows better.
            if isSameSource || sample.stratum < base.stratum {
                guard !isSameSource || sample.measured > base.measured else { return nil }
                filters[source].keepNewest()
                return sample
            }
            if sample.stratum > base.stratum, base.isFresh(at: elapsed) { return nil }
        }
        guard let best = filters[source].best(at: elapsed) else { return nil }
        if isSameSource {
            let isNewer = best.measured > base.measured
            return isNewer && best.uncertainty(at: elapsed) < base.uncertainty(at: elapsed) ? best : nil
        }
        // Clearly better, so that two sources of like worth do not take turns.
        let margin: Int64 = 2_000
        return 2 * best.uncertainty(at: elapsed) + margin < base.uncertainty(at: elapsed) ? best : nil
    }

    /// - Returns: by how many milliseconds the time steps; nil when it does not.
    mutating func adopt(_ estimate: ClockEstimate) -> Int64? {
        let step = base.isSynchronised ? 0 : Self.milliseconds(of: estimate.offset - base.offset)
        // Also when the guess was right to the millisecond: what nobody has seen stops being stamped anew.
        let isFirst = !base.isSynchronised && estimate.isSynchronised
        base = estimate
        return step == 0 && !isFirst ? nil : step
    }

    /// To the nearest.
    private static func milliseconds(of time: Int64) -> Int64 { (time + (time < 0 ? -500 : 500)) / 1_000 }

    // MARK: What it keeps

    /// What is to be kept durably in the place of what was kept before; nil when that says as much.
    mutating func recordIfUseful(at elapsed: Int64) -> ClockRecord? {
        let record = ClockRecord(
            base, boot: boot, wallDrift: Self.drift(of: wallOffset, from: base, known: remembered.wallDrift),
            floor: floor(at: elapsed))
        guard record.shouldPersist(after: remembered, at: elapsed) else { return nil }
        remembered = record
        return record
    }

    /// What to correct the wall clock by after the next boot. Who has never heard another clock knows of no error: if
    /// somebody has set the wall clock since, most likely the old time was the wrong one. Nor does a floor tell the error.
    private static func drift(of wallOffset: Int64, from base: ClockEstimate, known: Int64) -> Int64 {
        if !base.isPlausible { return known }
        let isAlone = base.source == nil && base.stratum == ClockQuality.unsynchronisedStratum
        return isAlone && known == 0 ? 0 : wallOffset - base.offset
    }
}
