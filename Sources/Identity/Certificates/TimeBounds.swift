/// Between which times it is now, as far as a laptop can know.
///
/// Validity is judged by these and never by the wall clock: who does not know the time gives the benefit of the doubt.
package struct TimeBounds: Hashable, Sendable {
    /// It is certainly not earlier, in milliseconds since 1970.
    package let earliest: Int64
    /// It is certainly not later, in milliseconds since 1970.
    package let latest: Int64

    /// Takes them in this order.
    package init(earliest: Int64, latest: Int64) {
        self.earliest = min(earliest, latest)
        self.latest = latest
    }

    /// Of a laptop that knows the time to within an uncertainty, all in milliseconds.
    package init(_ time: Int64, within uncertainty: Int64) {
        self.init(earliest: time - uncertainty, latest: time + uncertainty)
    }

    /// Of a laptop that knows only that it is not earlier.
    package static func since(_ earliest: Int64) -> TimeBounds { TimeBounds(earliest: earliest, latest: .max) }
}
