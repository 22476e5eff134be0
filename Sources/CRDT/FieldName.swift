/// The name of a field: 1 to 64 bytes of UTF-8, compared byte by byte.
///
/// Not a `String`, because two spellings that Unicode holds equal are different bytes, and which of them an export
/// shows must not depend on which arrived first.
package struct FieldName: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// In bytes of UTF-8.
    package static let longest = 64
    /// As it was written: Unicode normalisation is applied nowhere.
    package let text: String

    /// Nil when the text is empty or too long.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// For names in the source; an empty or too long one ends the program.
    package init(stringLiteral text: String) {
        precondition((1...Self.longest).contains(text.utf8.count), "a field name has 1 to 64 bytes")
        self.text = text
    }

    /// For names that were read from checked bytes.
    init(checked text: String) {
        self.text = text
    }

    /// Compares bytes, so that canonical equivalents of Unicode are different names.
    package static func == (left: FieldName, right: FieldName) -> Bool {
        // Names mostly differ in length, which costs nothing to ask.
        left.text.utf8.count == right.text.utf8.count && left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Orders by bytes of UTF-8, which is the order of fields in items and exports.
    package static func < (left: FieldName, right: FieldName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes that `==` compares.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// The bare `text`.
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
