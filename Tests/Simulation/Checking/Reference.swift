import CRDT

/// What one store holds, as told by what was reported durable; and what the rules say of it, worked out the slow and
/// obvious way. It shares the encoding of changes with the production code and nothing else.
struct Reference {
    /// A change where it stands.
    struct Entry: Hashable {
        let replica: ReplicaID
        let first: UInt64
        /// Nil for what is folded away.
        let change: Change?
        let count: UInt64

        var dot: Dot { Dot(replica: replica, sequence: first) }
        var last: UInt64 { first + count - 1 }
        var isRemoval: Bool { change?.operations.contains(.remove) ?? false }
        /// Says something about the job: never late.
        var isStatement: Bool { change?.operations.contains(where: \.isStatement) ?? false }
    }

    private(set) var journals: [ReplicaID: [Entry]] = [:]
    private(set) var heads: [ReplicaID: JournalHead] = [:]
    private(set) var items: [ItemID: [Entry]] = [:]
    /// The running digest after each record.
    private var digests: [Dot: UInt64] = [:]
    /// Changes in their journals that the store keeps out of the items (rule R6).
    var held: Set<Dot> = []
    /// Values and remarks by which edits are found again, and items that were removed.
    private(set) var marks: [String: ItemID] = [:]
    /// What folds say is forgotten.
    private(set) var forgotten: [ReplicaID: [ClosedRange<UInt64>]] = [:]
    /// Items that folds name, or that went with their job: nothing counts any more that was or will be written on them.
    private(set) var gone: Set<ItemID> = []
    /// Parts of journals that folds name and that are not here, or only with another content.
    private var pending: [(replica: ReplicaID, run: Fold.Run)] = []
    private var hasJustBeenRemoved = false
    /// Marks of what went with the job, of which a later reading of the store finds stubs.
    private var goneWithJob: [String: ItemID] = [:]
    /// What was said about the job as a whole.
    private(set) var statements = Statements()

    func head(of replica: ReplicaID) -> JournalHead { heads[replica] ?? .empty }

    /// Takes in what follows the known part of the journal.
    mutating func append(_ segment: JournalSegment) throws(Violation) -> [Entry] {
        let known = head(of: segment.replica).sequence
        guard segment.first <= known + 1 else { throw Violation("R9", "\(segment.brief) leaves a gap after \(known).") }
        var sequence = segment.first
        var added: [Entry] = []
        var digest = head(of: segment.replica).digest
        do {
            try ChangeCodec.scan(segment.bytes) { scanned, buffer in
                let change = scanned.stub == nil ? ChangeCodec.decode(scanned, in: buffer) : nil
                let count = UInt64(scanned.operationCount)
                let entry = Entry(replica: segment.replica, first: sequence, change: change, count: count)
                sequence += count
                guard entry.first > known else { return }
                digest = JournalDigest.extend(digest, with: scanned, in: buffer)
                digests[Dot(replica: entry.replica, sequence: entry.last)] = digest
                added.append(entry)
            }
        } catch {
            throw Violation("R9", "\(segment.brief) was stored and cannot be read.")
        }
        for entry in added { take(entry) }
        guard sequence == segment.head.sequence + 1 else {
            throw Violation("R9", "\(segment.brief) has \(sequence - segment.first) transforms.")
        }
        heads[segment.replica] = segment.head
        forgetPending()
        if statements.isJobRemoved { forgetJob(added) }
        return added
    }

    /// What the rules say of an item, without what is held.
    func expected(_ item: ItemID) -> ExpectedItem {
        ExpectedItem((items[item] ?? []).filter(isShown))
    }

    /// The latest stamp among what an item shows or has shown, apart from one change.
    func latestStamp(of item: ItemID, without dot: Dot) -> UInt64 {
        (items[item] ?? []).filter { isShown($0) && $0.dot != dot }.compactMap(\.change?.stamp.rawValue).max() ?? 0
    }

    private mutating func take(_ entry: Entry) {
        journals[entry.replica, default: []].append(entry)
        guard let change = entry.change else { return }
        items[change.item, default: []].append(entry)
        for mark in Self.marks(of: change) { marks[mark] = change.item }
        for (index, operation) in change.operations.enumerated() where operation.isStatement {
            statements.add(operation, at: Dot(replica: entry.replica, sequence: entry.first + UInt64(index)))
            switch operation {
            case .fold(let fold):
                pending += fold.journals.flatMap { journal in journal.runs.map { (journal.replica, $0) } }
                gone.formUnion(fold.items)
            case .removeJob: hasJustBeenRemoved = true
            default: break
            }
        }
    }

    /// What an earlier reading of the same store knew and this one cannot: what is folded away.
    mutating func remember(_ former: Reference) {
        gone.formUnion(former.gone)
        for (mark, item) in former.marks where gone.contains(item) { marks[mark] = item }
        goneWithJob = former.goneWithJob
        // The removal may have come with the rewritten journal itself: what it knows is then read as stubs at once.
        for entry in former.journals.values.joined() where isForgotten(entry) && hasSameJournal(as: former, upTo: entry)
        {
            for mark in entry.change.map(Self.marks(of:)) ?? [] { goneWithJob[mark] = entry.change?.item }
        }
        marks.merge(goneWithJob) { known, _ in known }
    }

    private func hasSameJournal(as former: Reference, upTo entry: Entry) -> Bool {
        let end = Dot(replica: entry.replica, sequence: entry.last)
        return digests[end] != nil && digests[end] == former.digests[end]
    }

    /// As above, and without what was written together with it.
    func latestStamp(of item: ItemID, without dot: Dot, before added: [Entry]) -> UInt64 {
        (items[item] ?? []).filter { isShown($0) && !added.contains($0) }
            .compactMap(\.change?.stamp.rawValue).max() ?? 0
    }

    /// Carries out what folds say of journals that are held so far.
    private mutating func forgetPending() {
        // Only where it is this branch of the journal, and no other (rule R9).
        pending.removeAll { replica, run in
            guard digests[Dot(replica: replica, sequence: run.span.upperBound)] == run.digest else { return false }
            forgotten[replica, default: []].append(run.span)
            return true
        }
    }

    /// Whether no stub is without its fold: only then is the export what it has to be at this vector.
    var isComplete: Bool {
        journals.values.joined().allSatisfy { entry in
            entry.change != nil || statements.isJobRemoved && entry.last <= statements.known(of: entry.replica)
                || isNamed(entry.first...entry.last, of: entry.replica)
        }
    }

    private func isNamed(_ stub: ClosedRange<UInt64>, of replica: ReplicaID) -> Bool {
        var next = stub.lowerBound
        for run in (forgotten[replica] ?? []).sorted(by: { $0.lowerBound < $1.lowerBound })
        where run.contains(next) && next <= stub.upperBound {
            next = run.upperBound + 1
        }
        return next > stub.upperBound
    }

    /// Of a removed job, everything that its removers held is forgotten but what was written on the job itself.
    private mutating func forgetJob(_ added: [Entry]) {
        let entries = hasJustBeenRemoved ? journals.values.flatMap(\.self) : added
        hasJustBeenRemoved = false
        for entry in entries where isForgotten(entry) {
            if let item = entry.change?.item { gone.insert(item) }
        }
    }

    func isForgotten(_ entry: Entry) -> Bool {
        if forgotten[entry.replica]?.contains(where: { $0.contains(entry.first) }) ?? false,
            entry.change.map({ gone.contains($0.item) }) ?? true
        {
            return true
        }
        return statements.isJobRemoved && entry.change?.item != .job
            && entry.last <= statements.known(of: entry.replica)
    }

    /// Changes that are in no item because a cut does not know them.
    var late: [Entry] {
        guard statements.hasCuts else { return [] }
        return journals.keys.sorted().flatMap { (journals[$0] ?? []).filter { isLate($0) && !isForgotten($0) } }
    }

    func isLate(_ entry: Entry) -> Bool {
        statements.hasCuts && entry.change != nil && !entry.isStatement
            && statements.isLate(Dot(replica: entry.replica, sequence: entry.last))
    }

    private func isShown(_ entry: Entry) -> Bool {
        guard let item = entry.change?.item, !gone.contains(item) else { return false }
        return !held.contains(entry.dot) && !isLate(entry) && !isForgotten(entry)
    }

    static func marks(of change: Change) -> [String] {
        change.operations.compactMap { operation in
            switch operation {
            case .set(_, let value, _): value
            case .append(_, let entry): entry
            case .remove: removalMark(change.item)
            default: nil
            }
        }
    }

    static func removalMark(_ item: ItemID) -> String { "removed \(item)" }
}

/// An item as the rules want it.
struct ExpectedItem: Equatable {
    struct Remark: Hashable {
        let anchor: UInt64
        let write: WriteStamp
        let index: Int
        let list: String
        let text: String
    }

    var isRemoved = false
    /// The winner's value (rule R1).
    var values: [String: String] = [:]
    /// Values of writes that nobody replaced, the winner's too.
    var candidates: [String: Set<String>] = [:]
    /// In the order of R7.
    var remarks: [Remark] = []

    init(_ entries: [Reference.Entry]) {
        var writes: [String: [Write]] = [:]
        var remarks: Set<Remark> = []
        for entry in entries {
            guard let change = entry.change else { continue }
            let stamp = change.write(in: entry.replica)
            for (index, operation) in change.operations.enumerated() {
                switch operation {
                case .remove: isRemoved = true
                case .set(let field, let value, let replaces):
                    writes[field.text, default: []].append(Write(write: stamp, value: value, replaces: replaces))
                case .append(let list, let text):
                    remarks.insert(
                        Remark(anchor: change.anchor, write: stamp, index: index, list: list.text, text: text))
                default: break
                }
            }
        }
        guard !isRemoved else { return }
        for (field, all) in writes {
            values[field] = all.max { $0.rank < $1.rank }?.value
            let standing = all.filter { write in !all.contains { $0.overrules(write) } }
            candidates[field] = Set(standing.map(\.value))
        }
        self.remarks = remarks.sorted { $0.order < $1.order }
    }

    private struct Write {
        let write: WriteStamp
        let value: String
        let replaces: [WriteStamp]

        /// One author gives one stamp twice only from two copies of a store: then the bytes decide.
        var rank: (UInt64, UInt128, String) { (write.stamp.rawValue, write.author.value, value) }

        /// Its author knew the other write.
        func overrules(_ other: Write) -> Bool {
            if write.author == other.write.author { return other.rank < rank }
            return replaces.contains { $0.author == other.write.author && $0.stamp >= other.write.stamp }
        }
    }
}

extension ExpectedItem.Remark {
    var order: (UInt64, UInt64, UInt128, Int, String) {
        (anchor, write.stamp.rawValue, write.author.value, index, text)
    }
}

extension ExpectedItem {
    /// What an item is instead of this; nil when it is this.
    func difference(from state: ItemState) -> Violation? {
        if isRemoved != (state.removed != nil) {
            return Violation("R2", isRemoved ? "it was removed and is there" : "it is removed and nobody removed it")
        }
        if isRemoved {
            return state.fields.isEmpty && state.remarks.isEmpty ? nil : Violation("R2", "a tombstone kept something")
        }
        let shown = Dictionary(
            uniqueKeysWithValues: state.fields.compactMap { field in
                field.register.winner.map { (field.name.text, $0.value) }
            })
        if shown != values { return Violation("R1", "it shows \(shown.sorted), the last writes are \(values.sorted)") }
        for field in state.fields {
            let heads = Set(field.register.heads.map(\.value))
            let expected = candidates[field.name.text] ?? []
            if heads != expected {
                return Violation(
                    "R1", "\(field.name) has the concurrent values \(heads.sorted()), not \(expected.sorted())")
            }
        }
        let remarks = state.remarks.map {
            Remark(anchor: $0.anchor, write: $0.write, index: Int($0.index), list: $0.list.text, text: $0.text)
        }
        if Set(remarks) != Set(self.remarks) {
            return Violation("R1b", "it has the remarks \(remarks.map(\.text)), not \(self.remarks.map(\.text))")
        }
        if remarks != self.remarks { return Violation("R7", "its remarks are not in the one order") }
        return nil
    }
}

extension [String: String] {
    fileprivate var sorted: String { keys.sorted().map { "\($0)=\(self[$0] ?? "")" }.joined(separator: " ") }
}
