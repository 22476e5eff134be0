/// The names of the people who work with the fleet: who begins a session takes one of them, so that nobody has two.
package struct CrewList: Hashable, Sendable {
    /// Ascending by their bytes, each once.
    package let names: [String]

    /// Takes names in any order.
    package init(_ names: [String]) {
        var sorted: [String] = []
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        where sorted.last.map({ !FieldText.isSame($0, name) }) ?? true { sorted.append(name) }
        self.names = sorted
    }

    /// The name that a person means.
    ///
    /// - Parameter isNew: that it is somebody whom the list does not have yet.
    /// - Throws: `CrewRefusal` for a name that the list has not, unless it is new; `FieldTextRefusal`.
    package func name(for entered: String, isNew: Bool) throws -> String {
        let name = try FieldText.entered(entered, as: .key, called: "The name")
        guard (1...WorkSession.longestName).contains(name.utf8.count) else { throw CrewRefusal.length }
        if isNew || names.contains(where: { FieldText.isSame($0, name) }) { return name }
        let same = names.filter { Self.folded($0) == Self.folded(name) }
        if same.count == 1 { return same[0] }
        throw CrewRefusal.unknown(name, resembling: same.isEmpty ? resembling(name) : same)
    }

    private static let suggestions = 3

    /// Names like one, the likest first.
    private func resembling(_ name: String) -> [String] {
        let wanted = Self.folded(name)
        let first = wanted.split(separator: " ").first
        let near = names.compactMap { known -> (distance: Int, name: String)? in
            let folded = Self.folded(known)
            let distance = EditDistance.between(wanted, folded)
            // Two letters off, of a short name one; or somebody with the same first name.
            let isNear = distance <= (min(wanted.count, folded.count) > 4 ? 2 : 1)
            return isNear || folded.split(separator: " ").first == first ? (distance, known) : nil
        }
        return near.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
            .prefix(Self.suggestions).map(\.element.name)
    }

    private static func folded(_ name: String) -> String {
        name.lowercased().split(separator: " ").joined(separator: " ")
    }
}

/// Why nobody's session begins. Nothing has changed.
package enum CrewRefusal: Error, Hashable, Sendable {
    case length
    /// The list has names like it, at most three.
    case unknown(String, resembling: [String])

    /// One sentence: what is wrong and what to do.
    package var sentence: String {
        switch self {
        case .length: "A person's name has 1 to \(WorkSession.longestName) bytes; give one like 'Ann Miller'."
        case .unknown(let name, let names) where names.isEmpty:
            "'\(name)' is not on the crew's list ('muster session list' shows it); if this is somebody new, add --new."
        case .unknown(let name, let names):
            "'\(name)' is not on the crew's list; did you mean \(names.map { "'\($0)'" }.joined(separator: " or "))? "
                + "If this is somebody new, add --new."
        }
    }

    /// What may have been meant.
    package var candidates: [String] {
        if case .unknown(_, let names) = self { names } else { [] }
    }
}
