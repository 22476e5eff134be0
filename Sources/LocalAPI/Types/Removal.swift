/// `POST /v1/jobs/{job}/removals`: items to remove for good, in one transaction, all or none.
package struct RemovalRequest: Codable, Hashable, Sendable {
    /// Ids, unique beginnings or ends of them or barcodes; at most 5,000, else 413.
    package var items: [String]?
    /// Instead of `items`: all whose fields have exactly these values.
    package var matching: [String: String]?
    /// Whether a person has confirmed that so many are to go (see `APIError.Code.confirmationNeeded`).
    package var isConfirmed: Bool?

    /// Either `items` or `matching` is given; both or neither is refused with 400.
    package init(items: [String]? = nil, matching: [String: String]? = nil, isConfirmed: Bool? = nil) {
        self.items = items
        self.matching = matching
        self.isConfirmed = isConfirmed
    }
}

/// What a removal of items has removed, durably (rule R4).
package struct Removed: Codable, Hashable, Sendable {
    /// The full ids, sorted; empty when nothing matched.
    package var removed: [String]

    /// `removed` holds full ids, ascending.
    package init(removed: [String]) {
        self.removed = removed
    }
}
