import CRDT

/// An item as the rules want it, from all changes that were written on it.
struct ExpectedItem: Equatable {
    struct Remark: Hashable {
        let anchor: UInt64
        let write: WriteStamp
        let index: Int
        let list: Text
        let text: Text
    }

    /// A write of a field that nobody has replaced.
    struct Candidate: Hashable {
        let write: WriteStamp
        let value: Text
    }

    /// The earliest removal (rule R2). What the item was is kept.
    var removed: WriteStamp?
    /// The winner's value (rule R1).
    var values: [Text: Text] = [:]
    /// Writes that nobody replaced, the winner too.
    var candidates: [Text: Set<Candidate>] = [:]
    /// In the order of R7.
    var remarks: [Remark] = []
    /// The last write that shows.
    var lastWrite: WriteStamp?

    var isRemoved: Bool { removed != nil }
    var isThere: Bool { removed != nil || !values.isEmpty || !remarks.isEmpty }

    init(_ entries: [Reference.Entry]) {
        var writes: [Text: [Write]] = [:]
        var remarks: Set<Remark> = []
        var removals: [WriteStamp] = []
        for entry in entries {
            for (index, operation) in entry.change.operations.enumerated() {
                switch operation {
                case .remove: removals.append(entry.write)
                case .set(let field, let value, let replaces):
                    let write = Write(write: entry.write, value: Text(value), replaces: replaces)
                    writes[Text(field), default: []].append(write)
                case .append(let list, let text):
                    remarks.insert(
                        Remark(
                            anchor: entry.change.anchor, write: entry.write, index: index, list: Text(list),
                            text: Text(text)))
                default: break
                }
            }
        }
        removed = removals.min()
        for (field, all) in writes {
            let winner = all.max { $0.rank < $1.rank }
            values[field] = winner?.value
            lastWrite = max(lastWrite ?? all[0].write, winner?.write ?? all[0].write)
            let standing = all.filter { write in !all.contains { $0.overrules(write) } }
            candidates[field] = Set(standing.map { Candidate(write: $0.write, value: $0.value) })
        }
        self.remarks = remarks.sorted { $0.order < $1.order }
        for remark in remarks { lastWrite = max(lastWrite ?? remark.write, remark.write) }
        if let removed { lastWrite = removed }
    }

    private struct Write {
        let write: WriteStamp
        let value: Text
        let replaces: [WriteStamp]

        /// One author gives one stamp twice only from two copies of a store: then the bytes decide.
        var rank: (UInt64, UInt128, Text) { (write.stamp.rawValue, write.author.value, value) }

        /// Its author knew the other write.
        func overrules(_ other: Write) -> Bool {
            if write.author == other.write.author { return other.rank < rank }
            return replaces.contains { $0.author == other.write.author && $0.stamp >= other.write.stamp }
        }
    }

    /// Fields in which somebody's write lost without the winner's author having seen it, with the lost values; none once
    /// the item is removed.
    var conflicts: [Text: Set<Text>] {
        guard !isRemoved else { return [:] }
        var conflicts: [Text: Set<Text>] = [:]
        for (field, standing) in candidates {
            let losers = Set(standing.map(\.value)).subtracting(values[field].map { [$0] } ?? [])
            if !losers.isEmpty { conflicts[field] = losers }
        }
        return conflicts
    }
}

extension ExpectedItem.Remark {
    var order: (UInt64, UInt64, UInt128, Int, Text, Text) {
        (anchor, write.stamp.rawValue, write.author.value, index, list, text)
    }
}

extension ExpectedItem {
    /// What an item is instead of this; nil when it is this.
    func difference(from state: ItemState) -> Violation? {
        if isRemoved != (state.removed != nil) {
            return Violation("R2", isRemoved ? "it was removed and is there" : "it is removed and nobody removed it")
        }
        if removed != state.removed { return Violation("R2", "its removal is not the first one") }
        let shown = Dictionary(
            uniqueKeysWithValues: state.fields.compactMap { field in
                field.register.winner.map { (Text(field.name), Text($0.value)) }
            })
        let rule = isRemoved ? "R10" : "R1"
        if shown != values {
            return Violation(rule, "it has \(shown.sorted), the last writes are \(values.sorted)")
        }
        for field in state.fields {
            let heads = Set(field.register.heads.map { Candidate(write: $0.write, value: Text($0.value)) })
            let expected = candidates[Text(field.name)] ?? []
            if heads != expected {
                return Violation(rule, "\(field.name) has the concurrent writes \(heads.brief), not \(expected.brief)")
            }
        }
        return differenceOfRemarks(from: state)
    }

    private func differenceOfRemarks(from state: ItemState) -> Violation? {
        let remarks = state.remarks.map {
            Remark(
                anchor: $0.anchor, write: $0.write, index: Int($0.index), list: Text($0.list), text: Text($0.text))
        }
        if Set(remarks) != Set(self.remarks) {
            return Violation("R1b", "it has the remarks \(remarks.map(\.text)), not \(self.remarks.map(\.text))")
        }
        if remarks != self.remarks { return Violation("R7", "its remarks are not in the one order") }
        if state.lastWrite != lastWrite, isThere { return Violation("R1", "its last write is told wrongly") }
        return nil
    }
}

extension Set<ExpectedItem.Candidate> {
    fileprivate var brief: [String] { map { "\($0.value) at \($0.write.stamp)" }.sorted() }
}

extension [Text: Text] {
    fileprivate var sorted: String {
        keys.sorted().map { "\($0)=\(self[$0].map { "\($0)" } ?? "")" }.joined(separator: " ")
    }
}
