/// The transforms of one item that were written in one action: they share a stamp and have consecutive sequences.
package struct Change: Hashable, Sendable {
    /// What is changed; `ItemID.job` for the job's properties and for statements.
    package var item: ItemID
    /// By the author's hybrid logical clock; a re-issue keeps it.
    package var stamp: Stamp
    /// The highest ordering id of the server that the author knew; 0 before it knew one (rule R7).
    package var anchor: UInt64
    /// Who wrote it first, when this journal only re-issues it (rule R9); nil when the journal's replica wrote it.
    package var origin: ReplicaID?
    /// One transform each, at least one.
    package var operations: [Operation]

    /// Takes the parts as they are: `ChangeLimits` are checked where a change is composed and where it is read.
    package init(
        item: ItemID, stamp: Stamp, anchor: UInt64 = 0, origin: ReplicaID? = nil, operations: [Operation]
    ) {
        self.item = item
        self.stamp = stamp
        self.anchor = anchor
        self.origin = origin
        self.operations = operations
    }

    /// The author's stamp, for a change in the journal of `replica`.
    package func write(in replica: ReplicaID) -> WriteStamp {
        WriteStamp(stamp: stamp, author: origin ?? replica)
    }
}

/// What one transform does.
package enum Operation: Hashable, Sendable {
    /// Sets a register. `replaces` names the writes that the author saw there: one, or several when it resolves a
    /// conflict; an earlier write of the same author needs no mention.
    case set(field: FieldName, value: String, replaces: [WriteStamp])
    /// Adds an entry to a list that only grows (rule R1b).
    case append(list: FieldName, entry: String)
    /// The tombstone (rule R2).
    case remove
    // What follows is said about the job as a whole, on its own item: statements, which the item's state ignores.
    /// The whole job is gone, for good: all that its remover held of it is freed (rule R10).
    case removeJob(JobRemoval)
    /// A person has dealt with these late changes, wherever they stand.
    case decide([ChangeIdentity])
    /// Asks for a change of what the server owns.
    case request(MutationRequest)
    /// Takes a request back that the server has not decided yet.
    case withdraw(MutationToken)
    // Only the channel's word counts for the rest; in another journal they change nothing but that journal.
    /// The server holds the journals up to here.
    case acknowledge([Position])
    /// The server has decided a request.
    case outcome(Outcome)
    /// The server says what it owns.
    case publish(PublishedValue)

    /// Whether it is about the job as a whole, and leaves no trace in an item's state.
    package var isStatement: Bool {
        switch self {
        case .set, .append, .remove: false
        case .removeJob, .decide, .request, .withdraw, .acknowledge, .outcome, .publish: true
        }
    }
}

/// Bounds of one change; what exceeds them is refused where it is written and where it is received.
package enum ChangeLimits {
    /// Transforms of one change, statements included.
    package static let operations = 256
    /// Bytes of UTF-8 in a field's value, an entry of a list or a published value: 64 KiB.
    package static let valueBytes = 64 << 10
    /// Writes that one set names as replaced; of more an edit names the greatest.
    package static let replacedWrites = 64
    /// Journals, or late changes, that one statement names: as many as a vector may have.
    package static let positions = 8_192
    /// No journal reaches further, so that sums cannot overflow.
    package static let sequence: UInt64 = 1 << 40
    /// An encoded change: below half a frame, so that one always fits.
    package static let changeBytes = 512 << 10
}
