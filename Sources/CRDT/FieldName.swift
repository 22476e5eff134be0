/// The name of a field: 1 to 64 bytes of UTF-8, compared byte by byte.
///
/// Not a `String`, because two spellings that Unicode holds equal are different bytes, and which of them an export
/// shows must not depend on which arrived first.
package struct FieldName: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    package static let longest = 64
    package let text: String

    /// Nil when the text is empty or too long.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    package init(stringLiteral text: String) {
        precondition((1...Self.longest).contains(text.utf8.count), "a field name has 1 to 64 bytes")
        self.text = text
    }

    /// For names that were read from checked bytes.
    init(checked text: String) {
        self.text = text
    }

    package static func == (left: FieldName, right: FieldName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package static func < (left: FieldName, right: FieldName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    package var description: String { text }
}

extension FieldName {
    /// Names that occur in nearly every item, written as one number (as HPACK's static table does, RFC 7541 appendix A).
    /// The table is part of the format: entries are appended, never changed.
    static let frequent: [FieldName] = [
        "barcode", "category", "name", "room", "quantity", "condition", "volumeCubicFeet", "notes", "photo",
        "accession_number", "title", "artist", "classification", "medium", "width_mm", "height_mm", "depth_mm",
        "dimensions", "date", "credit_line", "replaces", "kind", "serialNumber", "owner", "value",
    ]

    static let codes: [FieldName: UInt8] = Dictionary(
        uniqueKeysWithValues: frequent.enumerated().map { ($1, UInt8($0 + 1)) })

    /// The code of `barcode`, which the store indexes.
    static let barcodeCode: UInt8 = 1
}
