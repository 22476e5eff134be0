import LocalAPI

/// What an import did; with `--json` the document on standard output.
struct ImportReport: Codable, Equatable {
    /// So many rows that were not taken are named; whatever the file is, the list fits the memory.
    static let mostNamed = 1_000

    struct BadRow: Codable, Equatable {
        /// On which it begins, from 1.
        var line: Int
        var reason: String
    }

    var added = 0
    var updated = 0
    /// In the job as the row says, or from this file.
    var unchanged = 0
    /// From this file, and removed since.
    var removed = 0
    var notTaken = 0
    /// The first `mostNamed` of those that were not taken.
    var rejected: [BadRow] = []
    /// From which line on it is not known what was taken, and why; nil when the import came to its end.
    var stopped: BadRow?
    /// Absent where the job is neither over nor signed for, or nothing was written.
    var amends: AmendedJob?

    var taken: Int { added + updated + unchanged + removed }
    var rows: Int { taken + notTaken }

    mutating func reject(_ line: Int, _ reason: String) {
        notTaken += 1
        if rejected.count < Self.mostNamed { rejected.append(BadRow(line: line, reason: reason)) }
    }

    mutating func count(_ result: BatchResult, line: Int) {
        switch result.outcome {
        case .added: added += 1
        case .updated: updated += 1
        case .unchanged: unchanged += 1
        case .removed: removed += 1
        case .rejected: reject(line, result.reason ?? "the daemon refused it")
        }
    }

    /// The rows that were not taken, in a line for each reason.
    var reasons: [(lines: [Int], reason: String)] {
        var (order, lines): ([String], [String: [Int]]) = ([], [:])
        for row in rejected {
            if lines[row.reason] == nil { order.append(row.reason) }
            lines[row.reason, default: []].append(row.line)
        }
        return order.map { (lines: lines[$0] ?? [], reason: $0) }
    }

    /// `line 3`, or `lines 3-5, 9`: 20 places at most, the others are counted.
    static func places(_ lines: [Int]) -> String {
        guard lines.count > 1 else { return "line \(lines.first ?? 0)" }
        var runs: [ClosedRange<Int>] = []
        for line in lines {
            if let last = runs.last, last.upperBound + 1 == line {
                runs[runs.count - 1] = last.lowerBound...line
            } else {
                runs.append(line...line)
            }
        }
        let named = runs.prefix(20)
        let rest = lines.count - named.reduce(0) { $0 + $1.count }
        let places = named.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return "lines " + places.joined(separator: ", ") + (rest == 0 ? "" : " and \(Formats.count(rest)) more")
    }

    var sentence: String {
        "\(counted(rows, "row")): \(Formats.count(added)) added, \(Formats.count(updated)) updated, "
            + "\(Formats.count(unchanged)) unchanged, \(Formats.count(notTaken)) not taken."
    }
}
