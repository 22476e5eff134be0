/// Canonical forms of a job's items: equal stores give equal bytes.
package enum ExportFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case json
    case csv
}

/// The two ways to write a list that is too long to hold.
package enum ElementForm: Sendable {
    /// One JSON array, an element a line.
    case array
    /// JSON lines.
    case lines

    /// Of JSON lines.
    package static let linesMediaType = "application/jsonl"

    /// Of this form.
    package var mediaType: String { self == .array ? "application/json" : Self.linesMediaType }
    /// What stands before the first element.
    package var opening: String { self == .array ? "[\n" : "" }
    /// What stands between two.
    package var separator: String { self == .array ? ",\n" : "\n" }

    /// What stands after the last, or after the opening where there is none.
    package func closing(isEmpty: Bool) -> String {
        switch self {
        case .array: isEmpty ? "]\n" : "\n]\n"
        case .lines: isEmpty ? "" : "\n"
        }
    }
}
