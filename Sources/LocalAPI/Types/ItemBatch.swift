package import HTTPCoding

/// `POST /v1/jobs/{job}/import`: many items in as few commits as the daemon sees fit.
package struct ItemBatch: Codable, Hashable, Sendable, ClosedBody {
    /// The most items in one request.
    package static let largest = 5000

    /// A field whose value names an item: if an item of the job has that value already, it is updated, not added again.
    package var key: String?
    /// At most `largest`, else 413; the result in the same place of the report tells of each.
    package var items: [BatchItem]

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case key, items }

    /// Without a `key` every item is added as a new one.
    package init(key: String? = nil, items: [FieldsRequest]) {
        self.init(key: key, items: items.map { BatchItem(fields: $0.fields) })
    }

    /// Items may have ids only where there is no `key`.
    package init(key: String? = nil, items: [BatchItem]) {
        self.key = key
        self.items = items
    }
}

/// One item of a batch.
package struct BatchItem: Codable, Hashable, Sendable, ClosedBody {
    /// The id that it gets, a UUID; nil for a fresh one. Where the job has, or had, an item with this id, nothing is written: whoever
    /// draws ids sends a batch again without doubling anything.
    package var id: String?
    /// As in a `FieldsRequest`.
    package var fields: [String: String?]

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case id, fields }

    /// Throws `APIError` for a key that it does not have.
    package init(from decoder: any Decoder) throws {
        try Self.checkKeys(decoder)
        let object = try decoder.container(keyedBy: CodingKeys.self)
        id = try object.decodeIfPresent(String.self, forKey: .id)
        fields = try object.decode([String: String?].self, forKey: .fields)
    }

    /// A bad id, name or value rejects this item alone.
    package init(id: String? = nil, fields: [String: String?]) {
        self.id = id
        self.fields = fields
    }
}

/// One result per item of the batch, in its order. A rejected item does not hold up the others.
package struct BatchReport: Codable, Hashable, Sendable {
    /// As many as the batch has items.
    package var results: [BatchResult]
    /// Absent where the job is neither over nor signed for, or nothing was written.
    package var amends: AmendedJob?

    /// `results` stand in the order of the batch.
    package init(results: [BatchResult], amends: AmendedJob? = nil) {
        self.results = results
        self.amends = amends
    }
}

/// What became of one item of a batch.
package struct BatchResult: Codable, Hashable, Sendable {
    /// What was done with an item; only `added` and `updated` wrote something.
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case added
        case updated
        /// The key was there and every field had its value already, or the id was there: nothing was written.
        case unchanged
        /// The item with this id has been removed, and stays so: nothing was written.
        case removed
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
