/// What one exchange, or the wall clock, says about the time. All in microseconds.
struct ClockEstimate: Hashable, Sendable {
    /// Corrected time minus elapsed time.
    let offset: Int64
    /// How far off it was when it was made.
    let uncertainty: Int64
    /// The elapsed time at which it was made.
    let measured: Int64
    let stratum: UInt8
    let source: TimeSource?
    /// False for a clock that began long before the floor and goes on from there: it is not earlier than it says, more is not known.
    var isPlausible = true

    /// No clock of a laptop runs faster or slower than this, in parts per million (RFC 5905 assumes 15, of better ones).
    static let driftPartsPerMillion: Int64 = 200
    /// An estimate younger than this is not given up for a contradicting one that is further from the server.
    private static let trustedAge: Int64 = 15 * 60 * 1_000_000

    /// How far a clock may have gone wrong within a time, by that clock: while a slow one counts 999,800 seconds, 200 more
    /// than those have passed.
    static func drift(over time: Int64) -> Int64 {
        time <= 0 ? 0 : time / (1_000_000 / driftPartsPerMillion - 1) + 1
    }

    var isSynchronised: Bool { stratum < ClockQuality.shownStratum }
    /// Without a server, and work has been shown under it.
    var isShown: Bool { stratum == ClockQuality.shownStratum }

    var shown: ClockEstimate {
        ClockEstimate(
            offset: offset, uncertainty: uncertainty, measured: measured, stratum: ClockQuality.shownStratum,
            source: source, isPlausible: isPlausible)
    }

    func uncertainty(at elapsed: Int64) -> Int64 {
        isSynchronised ? uncertainty + Self.drift(over: elapsed - measured) : ClockQuality.unknownUncertainty
    }

    func isFresh(at elapsed: Int64) -> Bool { elapsed - measured < Self.trustedAge }

    /// Not both can be right.
    func contradicts(_ other: ClockEstimate, at elapsed: Int64) -> Bool {
        abs(offset - other.offset) > uncertainty(at: elapsed) + other.uncertainty(at: elapsed)
    }
}

extension ClockEstimate {
    /// - Parameters: an exchange that is plausible, and what its source said of its own clock.
    init(_ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource) {
        // The halves of two roundings, and the own clock's drift while the answer was on its way.
        let error = exchange.delay / 2 + 2 + Self.drift(over: exchange.returned - exchange.sent)
        self.init(
            offset: exchange.offset, uncertainty: error + quality.uncertainty, measured: exchange.returned,
            stratum: quality.stratum + 1, source: source)
    }
}
