import HTTPCoding
import LocalAPI

/// Whose changes are stamped later than they can be, for the doctor (rule R6).
enum FutureFinding {
    static let remedy =
        "set the clock of whoever wrote them; nothing is lost, and they yield to the next edit (see: muster job conflicts)"
    /// More authors than this are counted, not named.
    private static let named = 3

    /// A part of a sentence for each author, who wrote most first.
    static func findings(_ work: [FutureWork], nowMilliseconds: Int64) -> [String] {
        let authors = Dictionary(grouping: work) { $0.byName ?? "replica \($0.by.prefix(8))" }.sorted { first, second in
            let counts = (count(of: first.value), count(of: second.value))
            return (-counts.0, first.key) < (-counts.1, second.key)
        }
        var findings = authors.prefix(named).map { name, work in
            let count = count(of: work)
            let latest = work.map(\.latest.milliseconds).max() ?? nowMilliseconds
            return "\(count) change\(count == 1 ? " by \(name) is" : "s by \(name) are") stamped up to "
                + "\(lead(milliseconds: latest - nowMilliseconds)) ahead"
        }
        if authors.count > named { findings.append("so are others by \(authors.count - named) more") }
        return findings
    }

    private static func count(of work: [FutureWork]) -> Int { work.reduce(0) { $0 + $1.changes } }

    /// To the nearest whole unit that suits it.
    static func lead(milliseconds: Int64) -> String {
        let minutes = (max(0, milliseconds) + 30_000) / 60_000
        let hours = (minutes + 30) / 60
        let days = (hours + 12) / 24
        if days >= 730 { return "\(days / 365) years" }
        if hours >= 24 { return days == 1 ? "1 day" : "\(days) days" }
        return hours >= 1 ? "\(hours) h" : "\(minutes) min"
    }
}
