import Inventory

/// `GET /v1/catalogue`: a category that gives an item its volume.
package struct CategoryView: Codable, Hashable, Sendable {
    /// The value of the field `category`.
    package var id: String
    /// For people.
    package var name: String
    /// The volume of one piece.
    package var cubicFeet: Double

    init(_ category: Catalogue.Category) {
        id = category.id
        name = category.name
        cubicFeet = category.cubicFeet.double
    }

    /// In the order of the usual cube sheet.
    package static let all = Catalogue.categories.map(CategoryView.init)
}
