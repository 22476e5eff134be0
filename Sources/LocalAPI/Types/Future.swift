package import HTTPCoding

/// What one laptop has written with stamps later than it can be (rule R6): applied like everything else, and listed.
package struct FutureWork: Codable, Hashable, Sendable {
    /// The job's full id.
    package var job: String
    /// What people call the job.
    @Nullable package var jobName: String?
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?
    /// How many; those that others wrote on top of them are not counted.
    package var changes: Int
    /// The greatest stamp.
    package var latest: Timestamp

    /// `changes` is 1 at least: nobody is listed who wrote nothing from the future.
    package init(
        job: String, jobName: String? = nil, by: String, byName: String? = nil, changes: Int, latest: Timestamp
    ) {
        self.job = job
        self.jobName = jobName
        self.by = by
        self.byName = byName
        self.changes = changes
        self.latest = latest
    }
}

/// A field whose newest write is stamped later than it can be: it yields to the next edit whose author has seen it.
package struct FutureEdit: Codable, Hashable, Sendable {
    /// The full id of an item that is not removed; never the job itself.
    package var item: String
    /// The item's name or barcode, for people.
    @Nullable package var itemName: String?
    /// The name, 1 to 64 bytes.
    package var field: String
    /// The value that shows, with its stamp from the future.
    package var written: WrittenValue

    /// `written` is stamped beyond `HybridLogicalClock.limit` of the time now.
    package init(item: String, itemName: String?, field: String, written: WrittenValue) {
        self.item = item
        self.itemName = itemName
        self.field = field
        self.written = written
    }
}
