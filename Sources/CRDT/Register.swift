/// A field's last-writer-wins register that also remembers the writes nobody has replaced.
///
/// The winner is the greatest write (rule R1). The other heads lost to it without its author having seen them: they are
/// the conflict list that people see. State and merge follow the dotted version vector sets of Preguiça et al.,
/// "Dotted Version Vectors" (2010), with stamps in the place of counters: an author's stamps on one field only grow, so
/// that one stamp per author says which of its writes have been replaced.
package struct Register: Hashable, Sendable {
    /// A write that nobody who saw it has replaced.
    package struct Head: Hashable, Sendable {
        /// Its stamp and first author.
        package let write: WriteStamp
        /// As `Change.anchor` of the change that wrote it.
        package let anchor: UInt64
        /// At most `ChangeLimits.valueBytes` bytes of UTF-8.
        package let value: String

        /// Takes the value of a set with what its change says of author, stamp and anchor.
        package init(write: WriteStamp, anchor: UInt64, value: String) {
            self.write = write
            self.anchor = anchor
            self.value = value
        }

        /// By bytes: two spellings that Unicode holds equal are two values.
        package static func == (left: Head, right: Head) -> Bool {
            left.write == right.write && left.anchor == right.anchor && left.value.utf8.elementsEqual(right.value.utf8)
        }

        /// Hashes the write alone: `==` tells apart what a copied store wrote twice.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(write)
        }
    }

    /// Writes that no known write replaces, at most one per author, ascending; the last one wins.
    package private(set) var heads: [Head] = []
    /// Per author, up to which stamp its writes are replaced; ascending by author. An author whose head is later
    /// needs no entry: its own head replaces all that it wrote before.
    package private(set) var replaced: [WriteStamp] = []

    /// A field that nobody has written.
    package init() {}

    init(heads: [Head], replaced: [WriteStamp]) {
        self.heads = heads
        self.replaced = replaced
    }

    /// What the field is; nil while only replaced writes are known of.
    package var winner: Head? { heads.last }

    /// Heads whose value differs from the winner's.
    package var losers: [Head] {
        guard let winner else { return [] }
        return heads.filter { !$0.value.utf8.elementsEqual(winner.value.utf8) }
    }

    /// What has become of a write.
    package enum Standing: String, Hashable, Sendable, CaseIterable {
        /// Its value shows.
        case stands
        /// Somebody who saw it has written on top of it.
        case replaced
        /// A greater write won whose author had not seen it; nobody has settled that.
        case lost
    }

    /// What has become of a value that this register has taken in.
    package func standing(of value: String, at write: WriteStamp) -> Standing {
        guard let winner, heads.contains(where: { $0.write == write && $0.value.utf8.elementsEqual(value.utf8) }) else {
            return .replaced
        }
        return value.utf8.elementsEqual(winner.value.utf8) ? .stands : .lost
    }

    /// What a new write by `author` has to name as replaced.
    package func replacedByNewWrite(of author: ReplicaID) -> [WriteStamp] {
        heads.map(\.write).filter { $0.author != author }
    }

    /// Takes one write in. The outcome depends on the set of writes only, not on their order or number.
    package mutating func apply(_ head: Head, replaces: [WriteStamp]) {
        for write in replaces { markReplaced(write) }
        insert(head)
        heads = heads.filter { !isReplaced($0.write) }
        dropImpliedEntries()
    }

    private mutating func insert(_ head: Head) {
        if let index = heads.firstIndex(where: { $0.write.author == head.write.author }) {
            let known = heads[index]
            // One author gives a stamp twice only after a store was copied; bytes decide, so that all agree.
            let isLater =
                known.write.stamp < head.write.stamp
                || known.write == head.write && known.value.utf8.lexicographicallyPrecedes(head.value.utf8)
            guard isLater else { return }
            heads.remove(at: index)
        }
        let position = heads.firstIndex { $0.write > head.write } ?? heads.count
        heads.insert(head, at: position)
    }

    private mutating func markReplaced(_ write: WriteStamp) {
        let index = replaced.firstIndex { $0.author >= write.author } ?? replaced.count
        if index < replaced.count, replaced[index].author == write.author {
            if replaced[index].stamp < write.stamp { replaced[index] = write }
        } else {
            replaced.insert(write, at: index)
        }
    }

    private func isReplaced(_ write: WriteStamp) -> Bool {
        replaced.contains { $0.author == write.author && $0.stamp >= write.stamp }
    }

    private mutating func dropImpliedEntries() {
        replaced = replaced.filter { entry in
            !heads.contains { $0.write.author == entry.author && $0.write.stamp > entry.stamp }
        }
    }
}
