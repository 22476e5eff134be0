/// An element of `muster item list`.
package struct ItemView: Codable, Hashable, Sendable {
    package var id: String
    package var fields: [String: String]
    /// The remarks' texts in timeline order.
    package var notes: [String]
    package var updatedAt: Timestamp
    /// The replica id of whoever changed it last, 32 hexadecimal digits.
    package var updatedBy: String
    /// Its host, if known.
    @Nullable package var updatedByName: String?

    package init(
        id: String, fields: [String: String], notes: [String], updatedAt: Timestamp, updatedBy: String,
        updatedByName: String? = nil
    ) {
        self.id = id
        self.fields = fields
        self.notes = notes
        self.updatedAt = updatedAt
        self.updatedBy = updatedBy
        self.updatedByName = updatedByName
    }
}

/// What `muster item show` shows: the list's keys, and who wrote each of them.
package struct ItemDetails: Codable, Hashable, Sendable {
    package var id: String
    package var isRemoved: Bool
    /// The removed item that this one was restored from.
    @Nullable package var replaces: String?
    package var fields: [String: String]
    package var notes: [String]
    package var updatedAt: Timestamp
    package var updatedBy: String
    @Nullable package var updatedByName: String?
    /// Per field, who set the value and when.
    package var fieldHistory: [String: WrittenValue]
    /// Per field that has some, the values that lost to it without its author having seen them, the latest first.
    package var rivals: [String: [WrittenValue]]
    /// The remarks with author and time, in timeline order.
    package var remarks: [WrittenValue]

    package init(
        id: String, isRemoved: Bool, replaces: String?, fields: [String: String], notes: [String],
        updatedAt: Timestamp, updatedBy: String, updatedByName: String?, fieldHistory: [String: WrittenValue],
        rivals: [String: [WrittenValue]] = [:], remarks: [WrittenValue]
    ) {
        self.id = id
        self.isRemoved = isRemoved
        self.replaces = replaces
        self.fields = fields
        self.notes = notes
        self.updatedAt = updatedAt
        self.updatedBy = updatedBy
        self.updatedByName = updatedByName
        self.fieldHistory = fieldHistory
        self.rivals = rivals
        self.remarks = remarks
    }
}

/// `POST /v1/jobs/{job}/items` and `PATCH /v1/jobs/{job}/items/{item}`: fields to set. Others stay as they are.
package struct FieldsRequest: Codable, Hashable, Sendable {
    package var fields: [String: String]

    package init(fields: [String: String]) {
        self.fields = fields
    }
}

/// `POST /v1/jobs/{job}/items/{item}/notes`.
package struct NoteRequest: Codable, Hashable, Sendable {
    package var text: String

    package init(text: String) {
        self.text = text
    }
}

/// The new item that a restore made, and the removed one that it stands for (rule R2).
package struct Restored: Codable, Hashable, Sendable {
    package var id: String
    package var replaces: String

    package init(id: String, replaces: String) {
        self.id = id
        self.replaces = replaces
    }
}

/// `FIELD=VALUE`: the item's field has exactly this value.
package struct FieldFilter: Hashable, Sendable {
    package var field: String
    package var value: String

    package init(field: String, value: String) {
        self.field = field
        self.value = value
    }
}
