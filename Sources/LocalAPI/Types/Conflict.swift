package import HTTPCoding

/// What `muster job conflicts` lists: one entry counts as one conflict. The order is the same on every device.
package struct ConflictReport: Codable, Hashable, Sendable {
    /// Ascending by item, then by field: the job's own come first.
    package var edits: [ConflictingEdit]
    /// Ascending by barcode, byte by byte.
    package var duplicateBarcodes: [DuplicateBarcode]
    /// Ascending by item, then by field. They depend on the time now, so the job's number of conflicts leaves them out.
    package var future: [FutureEdit]

    /// `edits` and `duplicateBarcodes` together make the job's number of conflicts.
    package init(edits: [ConflictingEdit], duplicateBarcodes: [DuplicateBarcode], future: [FutureEdit] = []) {
        self.edits = edits
        self.duplicateBarcodes = duplicateBarcodes
        self.future = future
    }
}

/// Sets of one field by authors who did not know of each other.
package struct ConflictingEdit: Codable, Hashable, Sendable {
    /// How a request names the job itself where it asks for an item.
    package static let jobItself = "job"
    /// The reserved id under which the job's own fields are listed.
    package static let jobID = "00000000-0000-0000-0000-000000000000"

    /// The id; the reserved one, zero, for the job's own name and kind.
    package var item: String
    /// The item's name or barcode, for people; `the job itself`.
    @Nullable package var itemName: String?
    /// The name, 1 to 64 bytes.
    package var field: String
    /// The value that shows: of the greatest (stamp, replica), rule R1.
    package var winner: WrittenValue
    /// The other values, the latest first; at least one.
    package var losers: [WrittenValue]

    /// `losers` is not empty: without any there is no conflict.
    package init(item: String, itemName: String?, field: String, winner: WrittenValue, losers: [WrittenValue]) {
        self.item = item
        self.itemName = itemName
        self.field = field
        self.winner = winner
        self.losers = losers
    }
}

/// `POST /v1/jobs/{job}/conflicts`: takes one of a field's rival values, and replaces the others.
package struct SettleRequest: Codable, Hashable, Sendable, ClosedBody {
    /// An item's id, a unique beginning or end of it or a barcode that one item has; `job` for the job's own fields.
    package var item: String
    /// The name as it is listed, byte for byte.
    package var field: String
    /// One of the values; else who wrote it: a host's or a person's name, or the beginning of a replica id.
    package var take: String

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case item, field, take }

    /// A `take` that fits no rival, or authors of different values, is refused with 404 `unknownRival`.
    package init(item: String, field: String, take: String) {
        self.item = item
        self.field = field
        self.take = take
    }
}

/// What was set, and what that has replaced.
package struct SettledConflict: Codable, Hashable, Sendable {
    /// The full id; `ConflictingEdit.jobID` for the job's own fields.
    package var item: String
    /// The item's name or barcode, for people; `the job itself`.
    @Nullable package var itemName: String?
    /// The name of the field, 1 to 64 bytes.
    package var field: String
    /// What was set: `take`, or the value of the author that it names.
    package var value: String
    /// All rivals, the latest first.
    package var replaced: [WrittenValue]

    /// `replaced` holds the value that was taken, too.
    package init(item: String, itemName: String?, field: String, value: String, replaced: [WrittenValue]) {
        self.item = item
        self.itemName = itemName
        self.field = field
        self.value = value
        self.replaced = replaced
    }
}

/// A value, who wrote it and when.
package struct WrittenValue: Codable, Hashable, Sendable {
    /// The text of the field, or of the remark.
    package var value: String
    /// The stamp in milliseconds of corrected time (rule R5); RFC 3339 in UTC.
    package var at: Timestamp
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?
    /// Who was at it; null when nobody says so.
    @Nullable package var person: String?

    /// `by` is whole: 32 hexadecimal digits.
    package init(value: String, at: Timestamp, by: String, byName: String? = nil, person: String? = nil) {
        self.person = person
        self.value = value
        self.at = at
        self.by = by
        self.byName = byName
    }
}

/// One barcode on more than one item of a job.
package struct DuplicateBarcode: Codable, Hashable, Sendable {
    /// The text of the field `barcode`, byte for byte the same on each item.
    package var barcode: String
    /// The ids, sorted.
    package var items: [String]
    /// What each of them is called, in the same order; null for one without a name.
    package var itemNames: [String?]

    /// `items` holds two ids at least, and `itemNames` as many names.
    package init(barcode: String, items: [String], itemNames: [String?]) {
        self.barcode = barcode
        self.items = items
        self.itemNames = itemNames
    }
}
