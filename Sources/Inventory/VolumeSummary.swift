package import CRDT

/// What a job adds up to: items, pieces, volume and weight, per room and per category.
///
/// Feed it items in any order; the result is the same.
///
/// An item's volume is its own `volumeCubicFeet`, else its category's in the catalogue, times its `quantity` (1 when
/// it has none). A value that is not a number is listed and not used; an item without a volume is listed and counts as
/// none. So does an item whose volume is a typing error: a billion cubic feet or more.
package struct VolumeSummary: Sendable {
    /// All items that were added; both rooms and categories add up to it.
    package private(set) var total = Line()
    private var itemsOfUnknownVolume: [ItemID] = []
    private var itemsTooLarge: [ItemID] = []
    private var unreadableValues: [Unreadable] = []
    private var lineOfRoom: [String: NamedLine] = [:]
    private var lineOfCategory: [String: NamedLine] = [:]

    /// A job without items.
    package init() {}

    /// What some of the items add up to.
    package struct Line: Hashable, Sendable {
        package fileprivate(set) var items = 0
        /// Items times their quantities.
        package fileprivate(set) var pieces = Thousandths.zero
        package fileprivate(set) var cubicFeet = Thousandths.zero

        /// One international foot cubed is 0.028316846592 m³ exactly.
        package var cubicMetres: Thousandths { cubicFeet.scaled(by: 28_316_846_592, over: 1_000_000_000_000) }

        /// The estimate that the moving trade uses: 7 lb per cubic foot.
        package var pounds: Thousandths { cubicFeet.scaled(by: 7, over: 1) }

        /// One pound is 0.45359237 kg exactly.
        package var kilograms: Thousandths { pounds.scaled(by: 45_359_237, over: 100_000_000) }

        /// Whether there is so much that a sum has stopped at the greatest number: from a million items on that are nearly
        /// too large, each of them.
        package var isCapped: Bool { pieces == Thousandths(.max) || pounds == Thousandths(.max) }

        mutating func add(pieces: Thousandths, cubicFeet: Thousandths) {
            items += 1
            self.pieces += pieces
            self.cubicFeet += cubicFeet
        }
    }

    /// What the items of one room or category add up to.
    package struct NamedLine: Hashable, Sendable {
        /// Of several spellings that Unicode holds equal the first in byte order.
        package fileprivate(set) var name: String
        package fileprivate(set) var line = Line()
    }

    /// A value that is not a number where one is needed.
    package struct Unreadable: Hashable, Sendable {
        /// The item that has the value.
        package let item: ItemID
        /// `quantity` or `volumeCubicFeet`.
        package let field: String
        /// As it stands in the item.
        package let value: String
    }

    /// Counts one item; `field` looks up the item's fields by name.
    package mutating func add(_ item: ItemID, field: (FieldName) -> String?) {
        let volume = ItemVolume(field: field)
        for unreadable in volume.unreadable {
            unreadableValues.append(Unreadable(item: item, field: unreadable.field.text, value: unreadable.value))
        }
        if volume.isUnknown { itemsOfUnknownVolume.append(item) }
        if volume.isTooLarge { itemsTooLarge.append(item) }
        let (pieces, cubicFeet) = (volume.pieces, volume.cubicFeet)
        total.add(pieces: pieces, cubicFeet: cubicFeet)
        let room = ItemVolume.trimmed(field(WellKnownField.room))
        Self.count(pieces: pieces, cubicFeet: cubicFeet, under: room, in: &lineOfRoom)
        Self.count(pieces: pieces, cubicFeet: cubicFeet, under: volume.category, in: &lineOfCategory)
    }

    /// Ids of items whose volume nobody knows, ascending.
    package var unknownVolume: [ItemID] { itemsOfUnknownVolume.sorted() }

    /// Ids of items whose volume is too large to be one, ascending: they count as nothing in every volume.
    package var tooLarge: [ItemID] { itemsTooLarge.sorted() }

    /// As `Line.isCapped`, of the total.
    package var isCapped: Bool { total.isCapped }

    /// Sorted by item, then field.
    package var unreadable: [Unreadable] { unreadableValues.sorted { ($0.item, $0.field) < ($1.item, $1.field) } }

    /// Sorted by name; items without a room under the empty one.
    package var rooms: [NamedLine] { Self.sorted(lineOfRoom) }

    /// Sorted by name; items without a category under the empty one.
    package var categories: [NamedLine] { Self.sorted(lineOfCategory) }

    /// The storage unit that holds it all; nil when nothing has a volume.
    package var storage: StorageFit? { StorageFit(for: total.cubicFeet) }

    private static func sorted(_ lines: [String: NamedLine]) -> [NamedLine] {
        lines.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func count(
        pieces: Thousandths, cubicFeet: Thousandths, under name: String, in lines: inout [String: NamedLine]
    ) {
        var line = lines[name] ?? NamedLine(name: name)
        if name.utf8.lexicographicallyPrecedes(line.name.utf8) { line.name = name }
        line.line.add(pieces: pieces, cubicFeet: cubicFeet)
        lines[name] = line
    }
}
