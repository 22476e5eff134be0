package import CRDT

/// What one item adds to a job's volume; `VolumeSummary` says how it is told.
package struct ItemVolume: Sendable {
    /// As much as a number may be that is read: what is more is a typing error.
    package static let largest = Thousandths(999_999_999_999)

    /// Without spaces around; empty where there is none.
    package let category: String
    /// Its quantity; 1 when it has none that can be read.
    package let pieces: Thousandths
    /// Of all its pieces; 0 when it is unknown or too large.
    package let cubicFeet: Thousandths
    /// It has no volume of its own, and neither has its category.
    package let isUnknown: Bool
    /// More than `largest`.
    package let isTooLarge: Bool
    /// Values that are no numbers where some are needed.
    package let unreadable: [(field: FieldName, value: String)]

    /// - Parameter field: looks up the item's fields by name.
    package init(field: (FieldName) -> String?) {
        var unreadable: [(field: FieldName, value: String)] = []
        func number(_ name: FieldName) -> Thousandths? {
            guard let text = field(name), !Self.trimmed(text).isEmpty else { return nil }
            guard let number = Thousandths(parsing: text) else {
                unreadable.append((name, text))
                return nil
            }
            return number
        }
        category = Self.trimmed(field(WellKnownField.category))
        pieces = number(WellKnownField.quantity) ?? Thousandths(1000)
        let each = number(WellKnownField.volumeCubicFeet) ?? Catalogue.category(category)?.cubicFeet
        let all = (each ?? .zero) * pieces
        isUnknown = each == nil
        isTooLarge = all > Self.largest
        cubicFeet = isTooLarge ? .zero : all
        self.unreadable = unreadable
    }

    static func trimmed(_ text: String?) -> String {
        guard let text else { return "" }
        guard text.utf8.first == UInt8(ascii: " ") || text.utf8.last == UInt8(ascii: " ") else { return text }
        var bytes = text[...]
        while bytes.first == " " { bytes.removeFirst() }
        while bytes.last == " " { bytes.removeLast() }
        return String(bytes)
    }
}
