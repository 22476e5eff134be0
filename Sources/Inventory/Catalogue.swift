/// The volume of each category of things that are moved: cube sheet figures customary in the moving trade.
package enum Catalogue {
    /// Where the figures come from, for people.
    package static let source = "cube sheet figures customary in the moving trade"

    /// A line of the cube sheet.
    package struct Category: Hashable, Sendable {
        /// The value of the field `category`.
        package let id: String
        /// For people.
        package let name: String
        /// The volume of one piece.
        package let cubicFeet: Thousandths
    }

    /// Nil for a category that is not in the catalogue.
    package static func category(_ id: String) -> Category? {
        byID[id]
    }

    /// What somebody has meant who has written a category that there is not: those with all his words, else the one that is nearly
    /// written so; five at most.
    static func nearest(to given: String) -> [String] {
        // The longest name has some 40 letters.
        guard given.utf8.count <= 100 else { return [] }
        let words = Self.words(given)
        guard !words.isEmpty else { return [] }
        let fitting = categories.filter { Set(words).isSubset(of: Self.words($0.id) + Self.words($0.name)) }
        if !fitting.isEmpty { return fitting.prefix(5).map(\.id) }
        let nearest = NearestName.of(words.joined(separator: "-"), among: categories.map(\.id))
        return nearest.map { [$0] } ?? []
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    private static let byID = Dictionary(uniqueKeysWithValues: categories.map { ($0.id, $0) })
}
