package import CRDT

/// Fields that Muster itself reads. Any other field is kept and synchronised as it is.
package enum WellKnownField {
    /// What is printed on the label and scanned: looked up whole, by its bytes.
    package static let barcode: FieldName = "barcode"
    /// A `Catalogue.Category.id`, or any other text: then the catalogue knows no volume.
    package static let category: FieldName = "category"
    /// What people call the item.
    package static let name: FieldName = "name"
    /// Where it stands, in people's words; the summary counts by it.
    package static let room: FieldName = "room"
    /// How many pieces the item is, a number as `Thousandths` reads it; 1 when there is none.
    package static let quantity: FieldName = "quantity"
    /// What shape it is in, in people's words.
    package static let condition: FieldName = "condition"
    /// The volume of one piece in cubic feet, in place of its category's.
    package static let volumeCubicFeet: FieldName = "volumeCubicFeet"
    /// The grow-only list of remarks; not a register.
    package static let notes: FieldName = "notes"
    /// The item that a restored one stands for.
    package static let replaces: FieldName = "replaces"

    /// Those that people fill.
    private static let entered = [
        barcode, category, name, room, quantity, condition, volumeCubicFeet, notes,
    ].map(\.text)

    /// The names of all, with those that are not entered.
    package static let all = Set(entered + [replaces.text])

    /// What inventories call them elsewhere, folded as `NearestName` does.
    private static let aliases = [
        "qty": quantity.text, "cubicfeet": volumeCubicFeet.text, "cuft": volumeCubicFeet.text,
    ]

    /// The field that a column of this name fills: `Qty` is the quantity. Nil for what is no name of a well-known field.
    package static func meant(by column: String) -> String? {
        let column = NearestName.folded(column)
        return entered.first { $0.lowercased() == column } ?? aliases[column]
    }

    /// The field that is meant by a name that is nearly its own, or that others call it by; nil for what is meant as it is.
    package static func slip(_ name: String) -> String? {
        NearestName.slip(name, among: entered) ?? aliases[NearestName.folded(name)]
    }
}

/// The properties of a job, carried by the reserved item `ItemID.job`.
package enum JobProperty {
    /// What the crew calls the job; the name that the server publishes outranks it until somebody has renamed the job.
    package static let name: FieldName = "name"
    /// There, with any value, from when a person has renamed the job: what the crew calls it outranks the server's name. Older
    /// versions keep it and show the server's name still.
    package static let renamed: FieldName = "renamed"
    /// The raw value of a `JobKind`; the one that the server publishes outranks it.
    package static let kind: FieldName = "kind"

    private static let authorPrefix = "author."

    /// Whether a field only tells people which laptop a replica is on, or who is there.
    package static func isAuthor(_ field: FieldName) -> Bool {
        field.text.hasPrefix(authorPrefix)
    }

    /// The field that tells people which laptop a replica is on.
    package static func author(_ replica: ReplicaID) -> FieldName {
        // 7 + 32 bytes: always a valid name.
        FieldName("\(authorPrefix)\(replica)") ?? "author"
    }

    /// Whether a field is one of those that tell who is at a laptop.
    package static func isPerson(_ field: FieldName) -> Bool {
        isAuthor(field) && field.text.hasSuffix(personSuffix)
    }

    private static let personSuffix = ".person"

    /// The field whose history in a replica's own journal tells who was at its laptop when (docs/people.md). Older versions
    /// take it for one that tells which laptop it is, and show nothing of it.
    package static func person(_ replica: ReplicaID) -> FieldName {
        // 7 + 32 + 7 bytes.
        FieldName("\(authorPrefix)\(replica)\(personSuffix)") ?? "author"
    }
}

/// What a job is for.
package enum JobKind: String, CaseIterable, Sendable {
    case pickup
    case `return`
    case inventory
}
