import CRDT
package import HTTPCoding
import Inventory

/// One change of one item, as the timeline (`muster job log`) and the event stream show it. A commit that touches
/// several items gives one each.
package struct ChangeReport: Codable, Hashable, Sendable {
    /// What a change did: of several things the first of decided, removed, noted, added and changed.
    package enum Action: String, Codable, Hashable, Sendable, CaseIterable {
        /// The first change of the item.
        case added
        case changed
        case noted
        case removed
        /// Something about the job as a whole: late work, the job's removal, the server's word.
        case decided
    }

    /// The job's full id.
    package var job: String
    /// The highest ordering id that the author knew; 0 before it met a server (rule R7).
    package var anchor: UInt64
    /// The stamp in milliseconds of corrected time (rule R5); RFC 3339 in UTC.
    package var at: Timestamp
    /// Orders what one author wrote in the same millisecond.
    package var counter: UInt16
    /// The author's replica id, 32 hexadecimal digits.
    package var by: String
    /// The author's host, if known.
    @Nullable package var byName: String?
    /// Who was at it; null when nobody says so.
    @Nullable package var person: String?
    /// Of the change's first transform in the author's journal.
    package var sequence: UInt64
    /// The full id; the reserved one, zero, for the job itself.
    package var item: String
    /// The item's name or barcode, of the job itself its name; null where there is none. Of late work the name that it has here, or
    /// had when the job was removed, as far as that is known, or else the one that the late work gives it.
    @Nullable package var itemName: String?
    /// Of late work never `added`.
    package var action: Action
    /// What was set, sorted by field; empty for the other actions.
    package var fields: [FieldChange]
    /// The remark of a `noted`; what was decided, for people.
    @Nullable package var note: String?
    /// What was decided, for programs; empty for the other actions.
    package var decisions: [ReportedDecision]

    /// `job` and `item` are full ids, `by` has 32 hexadecimal digits, `fields` are sorted.
    package init(
        job: String, anchor: UInt64 = 0, at: Timestamp, counter: UInt16 = 0, by: String, byName: String? = nil,
        person: String? = nil, sequence: UInt64, item: String, itemName: String? = nil, action: Action,
        fields: [FieldChange] = [],
        note: String? = nil, decisions: [ReportedDecision] = []
    ) {
        self.decisions = decisions
        self.job = job
        self.anchor = anchor
        self.at = at
        self.counter = counter
        self.by = by
        self.byName = byName
        self.person = person
        self.sequence = sequence
        self.item = item
        self.itemName = itemName
        self.action = action
        self.fields = fields
        self.note = note
    }
}

extension ChangeReport {
    /// Whether it stands before the other in the timeline: by (anchor, stamp, replica, sequence), rule R7.
    package func precedes(_ other: ChangeReport) -> Bool { timelineKey < other.timelineKey }

    /// The channel's own entries, by the reserved replica zero, stand first at their anchor, whatever the clocks say.
    private var timelineKey: TimelineKey {
        let replica = ReplicaID(by) ?? ReplicaID(0)
        let milliseconds = UInt64(clamping: at.milliseconds)
        return TimelineKey(
            anchor: anchor, stamp: Stamp(milliseconds: milliseconds, counter: counter), replica: replica,
            sequence: sequence)
    }
}

/// One field that a change has set: what its author saw there, and what it wrote.
package struct FieldChange: Codable, Hashable, Sendable {
    /// What has become of a value that was written.
    package enum Standing: String, Codable, Hashable, Sendable, CaseIterable {
        /// It shows.
        case stands
        /// Somebody who saw it has written another.
        case replaced
        /// Another one won whose author had not seen it: `muster job conflicts` settles that.
        case lost
    }

    /// The name, 1 to 64 bytes, which tell it apart from any other.
    package var field: String
    /// The value that the author saw; null when there was none, or it is not known here any more.
    @Nullable package var from: String?
    /// The value that the author set.
    package var to: String
    /// Null for late work, of which that is not known, and for what was written on an item that is removed.
    @Nullable package var standing: Standing?

    /// `from` has no default, since nil says that the author saw no value.
    package init(field: String, from: String?, to: String, standing: Standing? = nil) {
        self.field = field
        self.from = from
        self.to = to
        self.standing = standing
    }
}
