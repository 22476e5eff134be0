package import CRDT

/// What people call an item: its name, else its barcode.
package enum ItemLabel {
    /// - Parameter value: of a field; nil where the item has none.
    /// - Returns: nil when neither says anything.
    package static func of(_ value: (FieldName) -> String?) -> String? {
        [WellKnownField.name, WellKnownField.barcode].compactMap(value).first { !$0.isEmpty }
    }
}

extension ItemState {
    /// The item's name or barcode, for people.
    package var label: String? { ItemLabel.of(value(of:)) }
}
