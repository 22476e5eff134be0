/// What `muster job conflicts` lists. The order is the daemon's and the same on every device.
package struct ConflictReport: Codable, Hashable, Sendable {
    package var edits: [ConflictingEdit]
    package var duplicateBarcodes: [DuplicateBarcode]

    package init(edits: [ConflictingEdit], duplicateBarcodes: [DuplicateBarcode]) {
        self.edits = edits
        self.duplicateBarcodes = duplicateBarcodes
    }
}

/// Two sets of one field by authors who did not know of each other.
package struct ConflictingEdit: Codable, Hashable, Sendable {
    package var item: String
    /// The item's name or barcode, for people.
    @Nullable package var itemName: String?
    package var field: String
    package var winner: WrittenValue
    package var loser: WrittenValue

    package init(item: String, itemName: String?, field: String, winner: WrittenValue, loser: WrittenValue) {
        self.item = item
        self.itemName = itemName
        self.field = field
        self.winner = winner
        self.loser = loser
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
