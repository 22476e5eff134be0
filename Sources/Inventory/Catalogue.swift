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

    private static let byID = Dictionary(uniqueKeysWithValues: categories.map { ($0.id, $0) })
}
