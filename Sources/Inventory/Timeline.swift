package import CRDT

/// One change in a job's timeline: who changed what, when, from what to what.
package struct TimelineEntry: Hashable, Sendable {
    /// A field that was set.
    package struct Setting: Hashable, Sendable {
        /// Which field of the item was set.
        package let field: FieldName
        /// What it was set to; the field may show another value now.
        package let value: String
        /// The value that the author saw there; nil when there was none.
        package let before: String?
        /// What has become of it since; nil where that is not asked.
        package let standing: Register.Standing?

        /// Takes the parts as they are; `TimelineEntry` works them out of a change.
        package init(field: FieldName, value: String, before: String?, standing: Register.Standing? = nil) {
            self.field = field
            self.value = value
            self.before = before
            self.standing = standing
        }
    }

    /// Where the entry stands in the timeline.
    package let key: TimelineKey
    /// What was changed; `ItemID.job` for what concerns the job as a whole.
    package let item: ItemID
    /// Who wrote it first.
    package let author: ReplicaID
    /// The first change of its item.
    package let isFirst: Bool
    /// Ascending by field.
    package let settings: [Setting]
    /// What was appended to lists, in the order in which it was written.
    package let notes: [String]
    /// Whether the item was removed by it.
    package let isRemoval: Bool
    /// What a person or the server decided about the job as a whole.
    package let decisions: [Decision]

    /// What was said about the job as a whole and people read.
    package enum Decision: Hashable, Sendable {
        /// How many late changes a person took over or dropped.
        case dealtWithLateWork(Int)
        case removedJob
        /// Asked the server for something.
        case asked(MutationRequest)
        case withdrew(MutationToken)
        /// The server's answer.
        case decided(Outcome)
        case published(PublishedValue)
    }

    /// Takes the parts as they are.
    /// - Parameter settings: ascending by field.
    package init(
        key: TimelineKey, item: ItemID, author: ReplicaID, isFirst: Bool, settings: [Setting], notes: [String],
        isRemoval: Bool, decisions: [Decision] = []
    ) {
        self.key = key
        self.item = item
        self.author = author
        self.isFirst = isFirst
        self.settings = settings
        self.notes = notes
        self.isRemoval = isRemoval
        self.decisions = decisions
    }

    /// Describes a change.
    ///
    /// - Parameters:
    ///   - before: what the author saw of a field, by the writes of others that it names as replaced.
    ///   - item: what the item is now.
    package init(
        _ change: Change, key: TimelineKey, isFirst: Bool, item: ItemState? = nil,
        before: (FieldName, [WriteStamp]) -> String? = { _, _ in nil }
    ) {
        let write = WriteStamp(stamp: key.stamp, author: key.replica)
        var settings: [Setting] = []
        var notes: [String] = []
        for operation in change.operations {
            switch operation {
            case .set(let field, let value, let replaces):
                settings.append(
                    Setting(
                        field: field, value: value, before: before(field, replaces),
                        // Nothing of a removed item stands.
                        standing: item?.removed == nil ? item?[field]?.standing(of: value, at: write) : nil))
            case .append(_, let entry): notes.append(entry)
            case .remove, .removeJob, .decide, .request, .withdraw, .acknowledge, .outcome, .publish: break
            }
        }
        self.init(
            key: key, item: change.item, author: key.replica, isFirst: isFirst,
            settings: settings.sorted { $0.field < $1.field }, notes: notes,
            isRemoval: change.operations.contains(.remove),
            decisions: change.operations.compactMap { Decision($0, at: key) })
    }
}

extension TimelineEntry.Decision {
    /// Nil for what people need not read, and for the server's words in another journal than the channel.
    init?(_ operation: CRDT.Operation, at key: TimelineKey) {
        switch operation {
        case .decide(let changes): self = .dealtWithLateWork(changes.count)
        case .removeJob: self = .removedJob
        case .request(let request): self = .asked(request)
        case .withdraw(let token): self = .withdrew(token)
        case .outcome(let outcome) where key.isServersWord: self = .decided(outcome)
        case .publish(let published) where key.isServersWord: self = .published(published)
        case .set, .append, .remove, .acknowledge, .outcome, .publish: return nil
        }
    }
}

/// The one order of a job on every device: (anchor, stamp, replica, sequence), rule R7.
///
/// An entry of the channel is anchored at itself and stands before everything that was written with knowledge of it,
/// whatever the clocks say. Two copies of a store can write at one place with one stamp: the journal decides between them.
package struct TimelineKey: Hashable, Comparable, Sendable {
    /// What the author knew of the channel (rule R7), as `Change.anchor`; of an entry of the channel its own sequence.
    package let anchor: UInt64
    /// As `Change.stamp`; for the server's own words it does not count.
    package let stamp: Stamp
    /// Who wrote it first.
    package let replica: ReplicaID
    /// Of the first transform, in `journal`.
    package let sequence: UInt64
    /// Where it stands: another's than the author's when it was re-issued.
    package let journal: ReplicaID

    /// The key of a change whose first transform has the given dot.
    package init(_ change: Change, at dot: Dot) {
        // A re-issued change stands where its first author put it (rule R9).
        self.init(
            anchor: dot.replica == .channel && change.origin == nil ? dot.sequence : change.anchor, stamp: change.stamp,
            replica: change.origin ?? dot.replica, sequence: dot.sequence, journal: dot.replica)
    }

    /// - Parameter journal: nil for the author's own.
    package init(anchor: UInt64, stamp: Stamp, replica: ReplicaID, sequence: UInt64, journal: ReplicaID? = nil) {
        self.anchor = anchor
        self.stamp = stamp
        self.replica = replica
        self.sequence = sequence
        self.journal = journal ?? replica
    }

    /// Orders as rule R7 says; the server's own words stand first at their anchor, whatever their stamp.
    package static func < (left: TimelineKey, right: TimelineKey) -> Bool {
        (left.anchor, left.orderingStamp, left.replica, left.sequence, left.journal)
            < (right.anchor, right.orderingStamp, right.replica, right.sequence, right.journal)
    }

    private var orderingStamp: Stamp {
        isServersWord ? .zero : stamp
    }

    /// Neither something that a laptop says in the server's name, nor what the server issues again for a laptop.
    var isServersWord: Bool { replica == .channel && journal == .channel }
}
