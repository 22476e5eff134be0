package import HTTPCoding

/// `POST /v1/jobs/{job}/removals`: items to remove for good, in one transaction, all or none.
package struct RemovalRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Ids, unique beginnings or ends of them or barcodes; at most 5,000, else 413.
    package var items: [String]?
    /// Instead of `items`: all whose fields have exactly these values.
    package var matching: [String: String]?
    /// Whether a person has confirmed that so many are to go (see `APIError.Code.confirmationNeeded`).
    package var isConfirmed: Bool?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case items, matching, isConfirmed }

    /// Either `items` or `matching` is given; both or neither is refused with 400.
    package init(items: [String]? = nil, matching: [String: String]? = nil, isConfirmed: Bool? = nil) {
        self.items = items
        self.matching = matching
        self.isConfirmed = isConfirmed
    }
}

/// What a removal of items has removed, durably (rule R4), or would remove.
package struct Removed: Codable, Hashable, Sendable, Tagged {
    /// So many are told by name.
    package static let named = 100

    /// The full ids, sorted; empty when nothing matched.
    package var removed: [String]
    /// The first hundred of them as people know them, in the same order.
    package var items: [RemovedItem]
    /// Absent where the job is neither over nor signed for.
    package var amends: AmendedJob?
    /// Of the job as a preview saw it; nil once they are removed.
    @Unencoded package var entityTag: String? = nil

    /// `removed` holds full ids, ascending.
    package init(
        removed: [String], items: [RemovedItem] = [], amends: AmendedJob? = nil, entityTag: String? = nil
    ) {
        self.entityTag = entityTag
        self.removed = removed
        self.items = items
        self.amends = amends
    }
}

/// A removed item as people know it.
package struct RemovedItem: Codable, Hashable, Sendable {
    /// The full id: a UUID in lower case.
    package var id: String
    /// Its name, else its title or category; null where it has none of them.
    @Nullable package var name: String?
    /// Null where it has none.
    @Nullable package var barcode: String?
    /// What brings it back (`POST /v1/jobs/{job}/items/{item}/restore`): its barcode if no other removed item has it, else its id.
    package var reference: String

    /// `reference` is what the store finds it by as it stands.
    package init(id: String, name: String?, barcode: String?, reference: String) {
        self.id = id
        self.name = name
        self.barcode = barcode
        self.reference = reference
    }
}
