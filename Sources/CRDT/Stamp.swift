/// A hybrid logical clock's reading: 48 bits of corrected milliseconds since 1970, then 16 bits of counter
/// (Kulkarni et al., "Logical Physical Clocks", 2014, in the compact form of its section 6).
package struct Stamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package static let zero = Stamp(rawValue: 0)
    /// Stamps from here on, in the year 4199, are lies and move no clock.
    package static let observable = Stamp(rawValue: 1 << 62)
    /// No change may be stamped later (it is in the year 6429): stamps stay in order where integers have a sign.
    package static let greatest = Stamp(rawValue: UInt64(Int64.max))

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package init(milliseconds: UInt64, counter: UInt16) {
        rawValue = milliseconds << 16 | UInt64(counter)
    }

    package var milliseconds: UInt64 { rawValue >> 16 }
    package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    package static func < (left: Stamp, right: Stamp) -> Bool {
        left.rawValue < right.rawValue
    }

    package var description: String { "\(milliseconds).\(counter)" }
}

/// Issues stamps that grow strictly, whatever the clock below does.
package struct HybridLogicalClock: Sendable {
    /// The greatest stamp that was issued or observed.
    package private(set) var latest: Stamp

    package init(latest: Stamp = .zero) {
        self.latest = .zero
        observe(latest)
    }

    /// The next stamp: the corrected time if that has moved on, else the last stamp plus one.
    ///
    /// A full counter carries into the milliseconds, which keeps the order and costs a millisecond per 65,536 stamps.
    package mutating func tick(nowMilliseconds: UInt64) -> Stamp {
        latest = max(Stamp(milliseconds: nowMilliseconds, counter: 0), Stamp(rawValue: latest.rawValue + 1))
        return latest
    }

    /// Moves past a stamp that another replica issued, so that what is written next is later than what was seen.
    ///
    /// A stamp after the year 4199 moves nothing: a liar must not bring this clock to the end of its range.
    package mutating func observe(_ stamp: Stamp) {
        guard stamp.rawValue < Stamp.observable.rawValue else { return }
        latest = max(latest, stamp)
    }
}

/// Who wrote and when: the total order in which the last write of a field wins (rule R1).
package struct WriteStamp: Hashable, Comparable, Sendable {
    package let stamp: Stamp
    package let author: ReplicaID

    package init(stamp: Stamp, author: ReplicaID) {
        self.stamp = stamp
        self.author = author
    }

    package static func < (left: WriteStamp, right: WriteStamp) -> Bool {
        (left.stamp, left.author) < (right.stamp, right.author)
    }
}
