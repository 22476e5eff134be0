import LocalAPI

/// What an import did; with `--json` the document on standard output.
struct ImportReport: Codable, Equatable {
    struct BadRow: Codable, Equatable {
        /// On which it begins, from 1.
        var line: Int
        var reason: String
    }

    var added = 0
    var updated = 0
    var unchanged = 0
    var rejected: [BadRow] = []
    /// From which line on it is not known what was taken, and why; nil when the import came to its end.
    var stopped: BadRow?

    var taken: Int { added + updated + unchanged }
    var rows: Int { taken + rejected.count }

    mutating func count(_ result: BatchResult, line: Int) {
        switch result.outcome {
        case .added: added += 1
        case .updated: updated += 1
        case .unchanged: unchanged += 1
        case .rejected: rejected.append(BadRow(line: line, reason: result.reason ?? "the daemon refused it"))
        }
    }

    var sentence: String {
        "\(counted(rows, "row")): \(Formats.count(added)) added, \(Formats.count(updated)) updated, "
            + "\(Formats.count(unchanged)) unchanged, \(Formats.count(rejected.count)) not taken."
    }
}
