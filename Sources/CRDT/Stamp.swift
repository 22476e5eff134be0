/// A hybrid logical clock's reading: 48 bits of corrected milliseconds since 1970, then 16 bits of counter
/// (Kulkarni et al., "Logical Physical Clocks", 2014, in the compact form of its section 6).
package struct Stamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Time and counter in one number that orders as stamps do.
    package let rawValue: UInt64

    /// Less than every stamp that is issued: nothing was written yet.
    package static let zero = Stamp(rawValue: 0)
    /// Stamps from here on, in the year 4199, are lies: no clock starts from them.
    package static let observable = Stamp(rawValue: 1 << 62)
    /// No change may be stamped later (it is in the year 6429): stamps stay in order where integers have a sign.
    package static let greatest = Stamp(rawValue: UInt64(Int64.max))

    /// Takes any bits, also beyond `greatest`.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Joins time and counter. Of a time from 2⁴⁸ on the upper bits are lost without a word.
    /// - Parameter milliseconds: corrected time since 1970.
    package init(milliseconds: UInt64, counter: UInt16) {
        rawValue = milliseconds << 16 | UInt64(counter)
    }

    /// The stamp after this one; the greatest has none after it.
    package var next: Stamp { self < .greatest ? Stamp(rawValue: rawValue + 1) : .greatest }

    /// Corrected time since 1970, as the clock that issued it had it.
    package var milliseconds: UInt64 { rawValue >> 16 }
    /// Tells the stamps of one millisecond apart, in their order.
    package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// Orders by time, then counter.
    package static func < (left: Stamp, right: Stamp) -> Bool {
        left.rawValue < right.rawValue
    }

    /// `MILLISECONDS.COUNTER` in decimal.
    package var description: String { "\(milliseconds).\(counter)" }
}

/// Issues stamps from corrected time that are later than what they follow, and lets no wrong clock lead it astray
/// (rule R6).
package struct HybridLogicalClock: Sendable {
    /// How far ahead of corrected time a stamp may be and still count as a clock's error: 5 minutes, in milliseconds.
    package static let tolerance: UInt64 = 300_000

    /// The greatest stamp that was issued or observed, as far as it was credible.
    package private(set) var latest: Stamp

    /// Goes on after a stamp that was kept. One from `observable` on is a lie: the clock begins at zero.
    package init(latest: Stamp = .zero) {
        self.latest = latest < .observable ? latest : .zero
    }

    /// The latest stamp that is credible at a time.
    package static func limit(nowMilliseconds: UInt64) -> Stamp {
        Stamp(milliseconds: nowMilliseconds + tolerance, counter: .max)
    }

    /// The next stamp: later than the last one, unless that was issued by a clock that was far ahead and has been put
    /// right since; and later than `seen`, whatever that is.
    ///
    /// A full counter carries into the milliseconds, which keeps the order and costs a millisecond per 65,536 stamps.
    /// - Parameter seen: the greatest stamp of what the new write is made on top of.
    package mutating func tick(nowMilliseconds: UInt64, after seen: Stamp = .zero) -> Stamp {
        let limit = Self.limit(nowMilliseconds: nowMilliseconds)
        let now = Stamp(milliseconds: nowMilliseconds, counter: 0)
        latest = latest > limit ? now : max(now, latest.next)
        guard seen >= latest else { return latest }
        let stamp = seen.next
        if stamp <= limit { latest = stamp }
        return stamp
    }

    /// Moves past a stamp that another replica issued, so that what is written next is later than what was seen.
    ///
    /// A stamp that is not credible moves nothing: a hybrid clock that took it over would carry it to everybody.
    package mutating func observe(_ stamp: Stamp, nowMilliseconds: UInt64) {
        guard stamp <= Self.limit(nowMilliseconds: nowMilliseconds) else { return }
        latest = max(latest, stamp)
    }
}

/// Who wrote and when: the total order in which the last write of a field wins (rule R1).
package struct WriteStamp: Hashable, Comparable, Sendable {
    /// Decides first.
    package let stamp: Stamp
    /// Decides between equal stamps; of a re-issued change the first author.
    package let author: ReplicaID

    /// Takes any two; `Change.write(in:)` says who counts as the author.
    package init(stamp: Stamp, author: ReplicaID) {
        self.stamp = stamp
        self.author = author
    }

    /// Orders by stamp, then author.
    package static func < (left: WriteStamp, right: WriteStamp) -> Bool {
        (left.stamp, left.author) < (right.stamp, right.author)
    }
}
