/// One change of one item, as the timeline (`muster job log`) and the event stream show it. A commit that touches
/// several items gives one each.
package struct ChangeReport: Codable, Hashable, Sendable {
    package enum Action: String, Codable, Hashable, Sendable, CaseIterable {
        /// The first change of the item.
        case added
        case changed
        case noted
        case removed
    }

    /// The job's full id.
    package var job: String
    /// The highest ordering id that the author knew; 0 before it met a server (rule R7).
    package var anchor: UInt64
    package var at: Timestamp
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?
    /// Of the change's first transform in the author's journal.
    package var sequence: UInt64
    package var item: String
    /// The item's name or barcode, for people.
    @Nullable package var itemName: String?
    package var action: Action
    /// What was set, sorted by field; empty for the other actions.
    package var fields: [FieldChange]
    /// The remark of a `noted`.
    @Nullable package var note: String?

    package init(
        job: String, anchor: UInt64 = 0, at: Timestamp, by: String, byName: String? = nil, sequence: UInt64,
        item: String, itemName: String? = nil, action: Action, fields: [FieldChange] = [], note: String? = nil
    ) {
        self.job = job
        self.anchor = anchor
        self.at = at
        self.by = by
        self.byName = byName
        self.sequence = sequence
        self.item = item
        self.itemName = itemName
        self.action = action
        self.fields = fields
        self.note = note
    }
}

package struct FieldChange: Codable, Hashable, Sendable {
    package var field: String
    /// The value before, in timeline order; null when there was none.
    @Nullable package var from: String?
    package var to: String

    package init(field: String, from: String?, to: String) {
        self.field = field
        self.from = from
        self.to = to
    }
}
