package import CRDT

/// Fields that Muster itself reads. Any other field is kept and synchronised as it is.
package enum WellKnownField {
    package static let barcode: FieldName = "barcode"
    package static let category: FieldName = "category"
    package static let name: FieldName = "name"
    package static let room: FieldName = "room"
    package static let quantity: FieldName = "quantity"
    package static let condition: FieldName = "condition"
    package static let volumeCubicFeet: FieldName = "volumeCubicFeet"
    /// The grow-only list of remarks; not a register.
    package static let notes: FieldName = "notes"
    /// The item that a restored one stands for.
    package static let replaces: FieldName = "replaces"
}

/// The properties of a job, carried by the reserved item `ItemID.job`.
package enum JobProperty {
    package static let name: FieldName = "name"
    package static let kind: FieldName = "kind"

    private static let authorPrefix = "author."

    /// Whether a field only tells people which laptop a replica is on.
    package static func isAuthor(_ field: FieldName) -> Bool {
        field.text.hasPrefix(authorPrefix)
    }

    /// The field that tells people which laptop a replica is on.
    package static func author(_ replica: ReplicaID) -> FieldName {
        // 7 + 32 bytes: always a valid name.
        FieldName("\(authorPrefix)\(replica)") ?? "author"
    }
}

/// What a job is for.
package enum JobKind: String, CaseIterable, Sendable {
    case pickup
    case `return`
    case inventory
}
