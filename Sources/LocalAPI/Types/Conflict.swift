/// What `muster job conflicts` lists: one entry counts as one conflict. The order is the same on every device.
package struct ConflictReport: Codable, Hashable, Sendable {
    package var edits: [ConflictingEdit]
    package var duplicateBarcodes: [DuplicateBarcode]
    /// Of now: not among the job's number of conflicts.
    package var future: [FutureEdit]

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
    package var field: String
    package var winner: WrittenValue
    /// The other values, the latest first; at least one.
    package var losers: [WrittenValue]

    package init(item: String, itemName: String?, field: String, winner: WrittenValue, losers: [WrittenValue]) {
        self.item = item
        self.itemName = itemName
        self.field = field
        self.winner = winner
        self.losers = losers
    }
}

/// `POST /v1/jobs/{job}/conflicts`: takes one of a field's rival values, and replaces the others.
package struct SettleRequest: Codable, Hashable, Sendable {
    /// As everywhere; `job` for the job's own fields.
    package var item: String
    package var field: String
    /// One of the values; else who wrote it: a host's name, or the beginning of a replica id.
    package var take: String

    package init(item: String, field: String, take: String) {
        self.item = item
        self.field = field
        self.take = take
    }
}

/// What was set, and what that has replaced.
package struct SettledConflict: Codable, Hashable, Sendable {
    package var item: String
    @Nullable package var itemName: String?
    package var field: String
    package var value: String
    /// All rivals, the latest first.
    package var replaced: [WrittenValue]

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
    package var value: String
    package var at: Timestamp
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?

    package init(value: String, at: Timestamp, by: String, byName: String? = nil) {
        self.value = value
        self.at = at
        self.by = by
        self.byName = byName
    }
}

/// One barcode on more than one item of a job.
package struct DuplicateBarcode: Codable, Hashable, Sendable {
    package var barcode: String
    /// The ids, sorted.
    package var items: [String]

    package init(barcode: String, items: [String]) {
        self.barcode = barcode
        self.items = items
    }
}
