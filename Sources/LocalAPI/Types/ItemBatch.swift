/// `POST /v1/jobs/{job}/items/batch`: many items in as few commits as the daemon sees fit.
package struct ItemBatch: Codable, Hashable, Sendable {
    /// The most items in one request.
    package static let largest = 5000

    /// A field whose value names an item: if an item of the job has that value already, it is updated, not added again.
    package var key: String?
    package var items: [FieldsRequest]

    package init(key: String? = nil, items: [FieldsRequest]) {
        self.key = key
        self.items = items
    }
}

/// One result per item of the batch, in its order. A rejected item does not hold up the others.
package struct BatchReport: Codable, Hashable, Sendable {
    package var results: [BatchResult]

    package init(results: [BatchResult]) {
        self.results = results
    }
}

package struct BatchResult: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case added
        case updated
        /// The key was there and every field had its value already: nothing was written.
        case unchanged
        case rejected
    }

    package var outcome: Outcome
    /// The item's id; null when rejected.
    @Nullable package var id: String?
    /// Why it was rejected: one sentence.
    @Nullable package var reason: String?

    package init(outcome: Outcome, id: String? = nil, reason: String? = nil) {
        self.outcome = outcome
        self.id = id
        self.reason = reason
    }
}
