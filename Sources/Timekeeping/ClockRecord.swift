/// What a clock keeps for the next start. All in microseconds.
package struct ClockRecord: Hashable, Sendable {
    /// The boot whose elapsed time the rest refers to.
    package let boot: String
    /// Corrected time minus elapsed time.
    package let offset: Int64
    /// When it was measured; it has grown since.
    package let uncertainty: Int64
    /// As `ClockQuality.stratum`.
    package let stratum: UInt8
    /// The elapsed time of the measurement.
    package let measured: Int64
    /// Whose time it is; nil when no other clock has been followed.
    package let source: TimeSource?
    /// The wall clock minus corrected time: the only thing that still says something after another boot.
    package let wallDrift: Int64
    /// The latest time that is certainly past, since 1970.
    package let floor: Int64
    /// False for a clock that goes on from the floor because its own time was before it.
    package let isPlausible: Bool

    /// Takes the parts as they were kept; `CorrectedClock` leaves out a record whose figures cannot be.
    package init(
        boot: String, offset: Int64, uncertainty: Int64, stratum: UInt8, measured: Int64, source: TimeSource?,
        wallDrift: Int64, floor: Int64 = 0, isPlausible: Bool = true
    ) {
        self.boot = boot
        self.offset = offset
        self.uncertainty = uncertainty
        self.stratum = stratum
        self.measured = measured
        self.source = source
        self.wallDrift = wallDrift
        self.floor = floor
        self.isPlausible = isPlausible
    }
}

extension ClockRecord {
    /// Whether sums of it stay far from the ends of 64 bits.
    var isWithinBounds: Bool {
        let limit: UInt64 = 1 << 60
        return [offset, measured, wallDrift, floor].allSatisfy { $0.magnitude < limit }
            && (0...Int64(limit)).contains(uncertainty) && stratum <= ClockQuality.unsynchronisedStratum
    }
}

/// What a clock knows, for people. All in microseconds.
package struct ClockOverview: Hashable, Sendable {
    /// Nil for a laptop that has nothing but its own wall clock.
    package let source: TimeSource?
    /// A server is behind it.
    package let isSynchronised: Bool
    /// As `ClockQuality.stratum`.
    package let stratum: UInt8
    /// The wall clock minus corrected time.
    package let drift: Int64
    /// `ClockQuality.unknownUncertainty` when no server is behind it.
    package let uncertainty: Int64
    /// Since the source was last believed; nil without a source.
    package let age: Int64?
    /// Corrected time since 1970.
    package let time: Int64
}
