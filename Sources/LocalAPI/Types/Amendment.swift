package import HTTPCoding

/// What was changed since the customer signed: `GET /v1/jobs/{job}/amendments`.
package struct AmendmentReport: Codable, Hashable, Sendable {
    /// Whether it can be told.
    package enum Standing: String, Codable, Hashable, Sendable, CaseIterable {
        /// Nobody has signed.
        case unsigned
        /// The inventory is the signed one, byte for byte.
        case asSigned
        /// It is the signed one with the amendments that are listed.
        case amended
        /// Changes that were signed for have not come to this laptop yet.
        case notHeldYet
        /// This laptop cannot show the inventory that was signed for: its journals say otherwise.
        case anotherInventory
        /// The signature does not say where the journals ended: an older version has asked for it.
        case noVector
        /// The job was removed, and with it what was signed for.
        case removedJob
    }

    /// The newest, also one that waits for the server; null where nobody has signed.
    @Nullable package var signature: Signature?
    /// Whether `items` can be told.
    package var standing: Standing
    /// Ascending by item; not empty exactly when `standing` is `amended`.
    package var items: [AmendedItem]

    /// `items` is for `amended` only.
    package init(signature: Signature?, standing: Standing, items: [AmendedItem] = []) {
        self.signature = signature
        self.standing = standing
        self.items = items
    }
}

/// An item that is not as it was signed for.
package struct AmendedItem: Codable, Hashable, Sendable {
    /// How it stands now against how it stood then.
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Also what was brought back, which is a new item.
        case added
        /// It stands on what was signed.
        case removed
        /// It stands on what was signed, and has other fields or more notes now.
        case changed
        /// It came after the signature and is removed again.
        case addedAndRemoved
        /// Some of what was signed for does not count any more: a revoked laptop had written it, and it waits with the late work.
        case uncounted
    }

    /// The full id.
    package var item: String
    /// The item's name or barcode, for people.
    @Nullable package var itemName: String?
    /// How it stands now against how it stood then.
    package var kind: Kind
    /// Of a changed item what shows otherwise, of an added one all; none of a removed one.
    package var fields: [AmendedField]
    /// Notes that were not there.
    package var notes: [String]
    /// The time of the last write that made it so; of a removed item the removal.
    package var at: Timestamp
    /// The replica id of who made that write.
    package var by: String
    /// The host's name, where it is known.
    @Nullable package var byName: String?
    /// Who was at it; null when nobody says so.
    @Nullable package var person: String?

    /// `fields` ascend by name, `notes` are in timeline order.
    package init(
        item: String, itemName: String?, kind: Kind, fields: [AmendedField], notes: [String], at: Timestamp,
        by: String, byName: String?, person: String? = nil
    ) {
        self.person = person
        self.item = item
        self.itemName = itemName
        self.kind = kind
        self.fields = fields
        self.notes = notes
        self.at = at
        self.by = by
        self.byName = byName
    }
}

/// A field that shows otherwise than what was signed.
package struct AmendedField: Codable, Hashable, Sendable {
    /// The name, 1 to 64 bytes.
    package var field: String
    /// What was signed for; null where the field was not there.
    @Nullable package var signed: String?
    /// What shows now, and who wrote it.
    package var present: WrittenValue

    /// `signed` and the present value differ.
    package init(field: String, signed: String?, present: WrittenValue) {
        self.field = field
        self.signed = signed
        self.present = present
    }
}
