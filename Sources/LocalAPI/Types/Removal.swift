/// `POST /v1/jobs/{job}/removals`: items to remove for good, in one transaction, all or none.
package struct RemovalRequest: Codable, Hashable, Sendable {
    /// Ids, unique prefixes of them or barcodes.
    package var items: [String]?
    /// Instead of `items`: all whose fields have exactly these values.
    package var matching: [String: String]?
    /// Whether a person has confirmed that so many are to go (see `APIError.Code.confirmationNeeded`).
    package var isConfirmed: Bool?

    package init(items: [String]? = nil, matching: [String: String]? = nil, isConfirmed: Bool? = nil) {
        self.items = items
        self.matching = matching
        self.isConfirmed = isConfirmed
    }
}

package struct Removed: Codable, Hashable, Sendable {
    /// The full ids, sorted; empty when nothing matched.
    package var removed: [String]

    package init(removed: [String]) {
        self.removed = removed
    }
}
