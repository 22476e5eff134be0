/// A question for the time and its answer: four timestamps in microseconds (RFC 5905 section 8).
package struct TimeExchange: Hashable, Sendable {
    /// When the question went out, by the own elapsed clock.
    package let sent: Int64
    /// When it came in, by the source's corrected time since 1970.
    package let received: Int64
    /// When the answer went out, by the source's corrected time since 1970.
    package let answered: Int64
    /// When the answer was here, by the own elapsed clock; may be rounded up to whole milliseconds.
    package let returned: Int64

    /// Takes four times as they are; `isPlausible` says whether they can be true.
    package init(sent: Int64, received: Int64, answered: Int64, returned: Int64) {
        self.sent = sent
        self.received = received
        self.answered = answered
        self.returned = returned
    }

    /// What to add to the elapsed clock for the source's time. It is wrong by half the delay at most.
    package var offset: Int64 { (received - sent) / 2 + (answered - returned) / 2 }

    /// How long both ways took together.
    package var delay: Int64 { (returned - sent) - (answered - received) }

    /// No answer takes longer that says anything about the time.
    static let longestRoundTrip: Int64 = 60_000_000
    /// From 2000 to 2200, since 1970: whatever else a source says is no time. Keeps the sums from overflowing, too.
    static let plausibleTimes: ClosedRange<Int64> = 946_684_800_000_000...7_258_118_400_000_000

    /// Whether it can have happened: nothing arrives before it was sent.
    package var isPlausible: Bool {
        Self.plausibleTimes.contains(received) && Self.plausibleTimes.contains(answered) && received <= answered
            && sent >= 0 && sent <= returned && returned - sent <= Self.longestRoundTrip && delay >= 0
    }
}
