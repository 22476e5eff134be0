package import HTTPCoding

/// An element of `muster item list`.
package struct ItemView: Codable, Hashable, Sendable {
    /// The full id: a UUID in lower case.
    package var id: String
    /// The value of each field that shows (rule R1), keyed as `Dictionary(fields:)` does.
    package var fields: [String: String]
    /// The remarks' texts in timeline order.
    package var notes: [String]
    /// The stamp of its last write, in corrected time; RFC 3339 in UTC.
    package var updatedAt: Timestamp
    /// The replica id of whoever changed it last, 32 hexadecimal digits.
    package var updatedBy: String
    /// Its host, if known.
    @Nullable package var updatedByName: String?

    /// `updatedAt` and `updatedBy` are of one write: the last that shows in the item.
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

/// Of an `ItemView` what a list of items shows to people.
package struct ItemRow: Decodable, Hashable, Sendable {
    /// The full id: a UUID in lower case.
    package let id: String
    /// The fields that have a column.
    package let fields: Fields
    /// The remarks' texts in timeline order.
    package let notes: [String]

    /// Each nil where the item has no such field.
    package struct Fields: Decodable, Hashable, Sendable {
        package let barcode: String?
        package let name: String?
        package let category: String?
        package let title: String?
        package let room: String?
        package let quantity: String?
        package let condition: String?
        package let replaces: String?
    }
}

/// What `muster item show` shows: the list's keys, and who wrote each of them.
package struct ItemDetails: Codable, Hashable, Sendable, Tagged {
    /// Another one whenever the item has changed.
    @Unencoded package var entityTag: String? = nil
    /// The full id: a UUID in lower case.
    package var id: String
    /// Whether its tombstone is known (rule R2); what the item was is told all the same.
    package var isRemoved: Bool
    /// The removed item that this one was restored from.
    @Nullable package var replaces: String?
    /// The value of each field that shows, as in `ItemView`.
    package var fields: [String: String]
    /// The texts of `remarks`, in their order.
    package var notes: [String]
    /// The stamp of its last write, or of its removal; RFC 3339 in UTC.
    package var updatedAt: Timestamp
    /// The replica id of whoever wrote or removed it then, 32 hexadecimal digits.
    package var updatedBy: String
    /// Its host, if known.
    @Nullable package var updatedByName: String?
    /// Who was at it; null when nobody says so.
    @Nullable package var person: String?
    /// Per field, who set the value and when.
    package var fieldHistory: [String: WrittenValue]
    /// Per field that has some, the values that lost to it without its author having seen them, the latest first.
    package var rivals: [String: [WrittenValue]]
    /// The remarks with author and time, in timeline order.
    package var remarks: [WrittenValue]

    /// `fieldHistory` has the keys of `fields`, `rivals` only those with a conflict.
    package init(
        id: String, isRemoved: Bool, replaces: String?, fields: [String: String], notes: [String],
        updatedAt: Timestamp, updatedBy: String, updatedByName: String?, person: String? = nil,
        fieldHistory: [String: WrittenValue], rivals: [String: [WrittenValue]] = [:], remarks: [WrittenValue]
    ) {
        self.id = id
        self.isRemoved = isRemoved
        self.replaces = replaces
        self.fields = fields
        self.notes = notes
        self.updatedAt = updatedAt
        self.updatedBy = updatedBy
        self.updatedByName = updatedByName
        self.person = person
        self.fieldHistory = fieldHistory
        self.rivals = rivals
        self.remarks = remarks
    }
}

/// `POST /v1/jobs/{job}/items` and `PATCH /v1/jobs/{job}/items/{item}`: fields to set. Others stay as they are.
package struct FieldsRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Values by name, one at least. A name has 1 to 64 bytes without `=` and control characters, and is not `notes`;
    /// a value has 64 KiB at most. Null empties the field, as the empty text does; of a new item it is left out.
    package var fields: [String: String?]

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case fields }

    /// A bad name or value is refused with 422 `invalidValue`.
    package init(fields: [String: String?]) {
        self.fields = fields
    }
}

/// `POST /v1/jobs/{job}/items/{item}/notes`.
package struct NoteRequest: Codable, Hashable, Sendable, ClosedBody {
    /// 1 byte to 64 KiB, without NUL; white space is kept.
    package var text: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case text }

    /// An empty text is refused with 422 `invalidValue`.
    package init(text: String) {
        self.text = text
    }
}

/// The item that stands for a removed one (rule R2): a restore has made it, now or before.
package struct Restored: Codable, Hashable, Sendable {
    /// The new item's id: the same whoever restores the old one.
    package var id: String
    /// The id of the removed item that it stands for; the new item's field `replaces` holds it, too.
    package var replaces: String
    /// False where it was back already: then nothing was changed.
    package var isNew: Bool
    /// Absent where the job is neither over nor signed for, or nothing was changed.
    package var amends: AmendedJob?

    /// Both ids are whole: UUIDs in lower case.
    package init(id: String, replaces: String, isNew: Bool, amends: AmendedJob? = nil) {
        self.id = id
        self.replaces = replaces
        self.isNew = isNew
        self.amends = amends
    }
}

/// `FIELD=VALUE`: the item's field has exactly this value.
package struct FieldFilter: Hashable, Sendable {
    /// The name of a field; `notes` is none, and refused with 422.
    package var field: String
    /// Compared byte by byte; an item without the field never matches, not even an empty value.
    package var value: String

    /// Checks nothing: the daemon refuses a bad name.
    package init(field: String, value: String) {
        self.field = field
        self.value = value
    }
}

extension FieldFilter {
    /// Reads `FIELD=VALUE`, cut at the first `=`; throws `invalidRequest` where the field is empty or `=` is missing.
    package init(parsing text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw APIError(.invalidRequest, "\"\(text)\" is not of the form FIELD=VALUE.")
        }
        self.init(field: String(parts[0]), value: String(parts[1]))
    }
}
