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

    var sentence: String {
        "\(counted(rows, "row")): \(Formats.count(added)) added, \(Formats.count(updated)) updated, "
            + "\(Formats.count(unchanged)) unchanged, \(Formats.count(notTaken)) not taken."
    }
}
