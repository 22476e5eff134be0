package import CRDT

/// Whether what somebody enters can be what is meant: a quantity that is a number, a category of the catalogue, a name that is not a
/// well-known one with a slip in it. Asked only where something is entered; what other devices hold is never refused.
///
/// Nothing is doubted that the item has already: an application that sends an item back as it was is not stopped by what a colleague
/// meant. Nor is the empty value, which empties a field.
package struct FieldCheck: Sendable {
    /// As many pieces as one item may be. Less than any barcode that is scanned into the wrong field, and more than anybody counts.
    package static let mostPieces = 999_999
    /// As many cubic feet as one piece may have: a large house.
    package static let mostCubicFeet = 99_999

    /// Names that were looked at: an import gives the same ones with every row.
    private var soundNames: Set<FieldName> = []
    /// Categories that the catalogue does not have, and what may be meant: to find that takes a millisecond.
    private var unknownCategories: [TextKey: [String]] = [:]

    /// Has looked at nothing yet.
    package init() {}

    /// What speaks against a value; nil where nothing does.
    ///
    /// - Parameter state: the item as it is; nil for a new one.
    package mutating func doubt(about pair: Edit.FieldValue, in state: ItemState?) -> FieldDoubt? {
        let (field, value) = (pair.field, pair.value)
        if let known = state?.value(of: field) {
            if FieldText.isSame(known, value) { return nil }
        } else if !soundNames.contains(field) {
            if let nearest = WellKnownField.slip(field.text) { return FieldDoubt(field, .misspelt(nearest: nearest)) }
            soundNames.insert(field)
        }
        guard !ItemVolume.trimmed(value).isEmpty else { return nil }
        return problem(of: value, in: field).map { FieldDoubt(field, $0) }
    }

    private mutating func problem(of value: String, in field: FieldName) -> FieldDoubt.Problem? {
        switch field {
        case WellKnownField.quantity:
            let isSound = Self.isWhole(value) && Self.isNumber(value, atMost: Self.mostPieces)
            return isSound ? nil : .noQuantity(value)
        case WellKnownField.volumeCubicFeet:
            return Self.isNumber(value, atMost: Self.mostCubicFeet) ? nil : .noVolume(value)
        case WellKnownField.category:
            let category = ItemVolume.trimmed(value)
            guard Catalogue.category(category) == nil else { return nil }
            return .unknownCategory(value, nearest: nearest(to: category))
        case WellKnownField.barcode:
            return Self.isRounded(value) ? .roundedBarcode(value) : nil
        default:
            return nil
        }
    }

    /// As a spreadsheet writes a long number, whose last digits are gone: `2.00000E+12`.
    private static func isRounded(_ text: String) -> Bool {
        let parts = ItemVolume.trimmed(text).split(omittingEmptySubsequences: false) { $0 == "E" || $0 == "e" }
        guard parts.count == 2, parts[1].first == "+" else { return false }
        let digits =
            parts[0].split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," } + [parts[1].dropFirst()]
        return digits.count <= 3 && digits[0].utf8.count == 1
            && digits.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    private mutating func nearest(to category: String) -> [String] {
        if let known = unknownCategories[TextKey(category)] { return known }
        // A column of other things than categories.
        guard unknownCategories.count < 100 else { return [] }
        let nearest = Catalogue.nearest(to: category)
        unknownCategories[TextKey(category)] = nearest
        return nearest
    }

    /// As whoever adds it up reads it.
    private static func isNumber(_ text: String, atMost greatest: Int) -> Bool {
        Thousandths(parsing: text).map { $0 <= Thousandths(greatest * 1_000) } ?? false
    }

    /// Of a number: a spreadsheet writes 2 as 2.0, too.
    private static func isWhole(_ text: String) -> Bool {
        text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst()
            .allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: " ") }
    }
}

/// Why a value is hardly what is meant. Whoever means it says so.
package struct FieldDoubt: Error, Hashable, Sendable {
    /// What speaks against it.
    package enum Problem: Hashable, Sendable {
        case misspelt(nearest: String)
        case noQuantity(String)
        case noVolume(String)
        case roundedBarcode(String)
        case unknownCategory(String, nearest: [String])
    }

    /// The field that is entered.
    package let field: FieldName
    /// What speaks against it or its value.
    package let problem: Problem

    init(_ field: FieldName, _ problem: Problem) {
        self.field = field
        self.problem = problem
    }

    /// What may have been meant.
    package var candidates: [String] {
        switch problem {
        case .misspelt(let nearest): [nearest]
        case .unknownCategory(_, let nearest): nearest
        case .noQuantity, .noVolume, .roundedBarcode: []
        }
    }

    /// One sentence or two: what is wrong and what to do.
    package var sentence: String {
        switch problem {
        case .misspelt(let nearest):
            // Remarks are added and not set: who did as told would be refused once more.
            let meant =
                nearest == WellKnownField.notes.text
                ? "remarks are added with 'muster item note'." : "did you mean '\(nearest)'?"
            return "'\(field)' is no well-known field; \(meant) Add --force if it is meant."
        case .noQuantity(let value):
            return "'\(field)' is a whole number from 0 to \(FieldCheck.mostPieces), not '\(Self.short(value))'; "
                + "add --force if it is meant."
        case .noVolume(let value):
            return "'\(field)' is a number from 0 to \(FieldCheck.mostCubicFeet), with a point before its fraction, "
                + "not '\(Self.short(value))'; add --force if it is meant."
        case .roundedBarcode(let value):
            return
                "'\(Self.short(value))' is a barcode of which a spreadsheet has left the first digits only; make its column text "
                + "there and export it anew, or add --force if it is meant."
        case .unknownCategory(let value, let nearest):
            let names = nearest.map { "'\($0)'" }
            let remedy =
                if let last = names.last {
                    "did you mean \(names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " : "")\(last)?"
                } else { "'muster catalogue' lists them." }
            return "The catalogue has no category '\(Self.short(value))'; \(remedy) Add --force if it is meant."
        }
    }

    private static func short(_ value: String) -> String {
        let shown = value.prefix(40)
        return shown.endIndex == value.endIndex ? value : "\(shown)…"
    }
}
