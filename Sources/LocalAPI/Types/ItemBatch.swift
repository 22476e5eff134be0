package import HTTPCoding

/// `POST /v1/jobs/{job}/import`: many items in as few commits as the daemon sees fit.
package struct ItemBatch: Codable, Hashable, Sendable {
    /// The most items in one request.
    package static let largest = 5000

    /// A field whose value names an item: if an item of the job has that value already, it is updated, not added again.
    package var key: String?
    /// At most `largest`, else 413; the result in the same place of the report tells of each.
    package var items: [FieldsRequest]

    /// Without a `key` every item is added as a new one.
    package init(key: String? = nil, items: [FieldsRequest]) {
        self.key = key
        self.items = items
    }
}

/// One result per item of the batch, in its order. A rejected item does not hold up the others.
package struct BatchReport: Codable, Hashable, Sendable {
    /// As many as the batch has items.
    package var results: [BatchResult]

    /// `results` stand in the order of the batch.
    package init(results: [BatchResult]) {
        self.results = results
    }
}

/// What became of one item of a batch.
package struct BatchResult: Codable, Hashable, Sendable {
    /// What was done with an item; `unchanged` and `rejected` wrote nothing.
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case added
        case updated
        /// The key was there and every field had its value already: nothing was written.
        case unchanged
        case rejected
    }

    /// `added` and `updated` are durable when the answer comes (rule R4).
    package var outcome: Outcome
    /// The item's id; null when rejected.
    @Nullable package var id: String?
    /// Why it was rejected: one sentence.
    @Nullable package var reason: String?

    /// `rejected` comes with a reason and without an id, the others the other way round.
    package init(outcome: Outcome, id: String? = nil, reason: String? = nil) {
        self.outcome = outcome
        self.id = id
        self.reason = reason
    }
}
