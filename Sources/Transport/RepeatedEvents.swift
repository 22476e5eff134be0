/// Decides what of events that may come in floods is logged: of each kind the first one at once, then how many more
/// there were, once a minute. A stranger must not be able to fill the log.
///
/// Times are milliseconds of a clock that never goes back.
package struct RepeatedEvents<Kind: Hashable & Comparable & Sendable>: Sendable {
    /// What one line of the log says.
    package struct Report: Hashable, Sendable {
        /// What has happened.
        package let kind: Kind
        /// How often it happened since the last report.
        package let count: Int
        /// Of the last one.
        package let detail: String
    }

    private struct Period {
        let end: UInt64
        var count = 0
        var detail = ""
    }

    /// How long further events of a kind are only counted: one minute.
    package static var periodMilliseconds: UInt64 { 60_000 }

    private var periods: [Kind: Period] = [:]

    /// Begins as if nothing had ever happened.
    package init() {}

    /// When `removeDue` wants to be called; nil when nothing is to be told.
    package var nextDeadline: UInt64? { periods.values.map(\.end).min() }

    /// - Returns: what is to be logged now.
    package mutating func note(_ kind: Kind, detail: String, now: UInt64) -> Report? {
        guard periods[kind] != nil else {
            periods[kind] = Period(end: now + Self.periodMilliseconds)
            return Report(kind: kind, count: 1, detail: detail)
        }
        periods[kind]?.count += 1
        periods[kind]?.detail = detail
        return nil
    }

    /// What has been counted in the minutes that are over. A kind of which there was nothing more is new when it comes again.
    package mutating func removeDue(now: UInt64) -> [Report] {
        var reports: [Report] = []
        for kind in periods.keys.sorted() {
            guard let period = periods[kind], period.end <= now else { continue }
            periods[kind] = period.count == 0 ? nil : Period(end: now + Self.periodMilliseconds)
            if period.count > 0 { reports.append(Report(kind: kind, count: period.count, detail: period.detail)) }
        }
        return reports
    }
}
