/// The name of one transform. Sequences are 1, 2, 3 … without a gap per (job, replica).
package struct Dot: Hashable, Comparable, Sendable {
    /// Whose journal it stands in.
    package let replica: ReplicaID
    /// Its place there, from 1.
    package let sequence: UInt64

    /// Takes any sequence, also 0, which names no transform.
    package init(replica: ReplicaID, sequence: UInt64) {
        self.replica = replica
        self.sequence = sequence
    }

    /// Orders by replica, then sequence.
    package static func < (left: Dot, right: Dot) -> Bool {
        (left.replica, left.sequence) < (right.replica, right.sequence)
    }
}

/// How far a journal reaches, and the running digest of everything up to there.
package struct JournalHead: Hashable, Sendable {
    /// The head of a journal that has no transform: sequence 0 and no digest.
    package static let empty = JournalHead(sequence: 0, digest: .empty)

    /// That of the last transform; 0 when there is none.
    package let sequence: UInt64
    /// The link of the chain after that transform; `JournalDigest.empty` when there is none.
    package let digest: JournalDigest

    /// Takes a head as it was worked out or told; a digest is compared, never checked, here.
    package init(sequence: UInt64, digest: JournalDigest) {
        self.sequence = sequence
        self.digest = digest
    }

    /// Two contents of one length: proof that a journal was forked. Of two lengths the heads alone tell nothing.
    package func contradicts(_ other: JournalHead) -> Bool {
        sequence == other.sequence && digest != other.digest
    }
}

/// Per replica, how far a store holds the whole journal of one job.
///
/// Kept sorted by replica, so that iterating it gives the same order in every process.
package struct VersionVector: Hashable, Sendable {
    /// How far one journal is held.
    package struct Entry: Hashable, Sendable {
        /// Whose journal it is.
        package let replica: ReplicaID
        /// Where it ends here; a vector leaves an empty one out.
        package let head: JournalHead

        /// Takes any head, also the empty one.
        package init(replica: ReplicaID, head: JournalHead) {
            self.replica = replica
            self.head = head
        }
    }

    /// Ascending by replica, each once, none with an empty head.
    package private(set) var entries: [Entry]

    /// Of a store that holds nothing.
    package init() {
        entries = []
    }

    /// Takes entries in any order; of two for one replica the farther wins.
    package init(_ entries: some Sequence<Entry>) {
        self.entries = []
        for entry in entries { advance(entry.replica, to: entry.head) }
    }

    /// `JournalHead.empty` for a journal that is not held.
    package subscript(replica: ReplicaID) -> JournalHead {
        let index = position(of: replica)
        return index < entries.count && entries[index].replica == replica ? entries[index].head : .empty
    }

    /// Raises the entry; a head that is not farther changes nothing. Returns whether it was raised.
    @discardableResult
    package mutating func advance(_ replica: ReplicaID, to head: JournalHead) -> Bool {
        guard head.sequence > self[replica].sequence else { return false }
        set(replica, to: head)
        return true
    }

    /// Sets the entry, also backwards: only for a journal that was found forked and cut (rule R9).
    package mutating func set(_ replica: ReplicaID, to head: JournalHead) {
        let index = position(of: replica)
        let isPresent = index < entries.count && entries[index].replica == replica
        switch (isPresent, head.sequence > 0) {
        case (true, true): entries[index] = Entry(replica: replica, head: head)
        case (true, false): entries.remove(at: index)
        case (false, true): entries.insert(Entry(replica: replica, head: head), at: index)
        case (false, false): break
        }
    }

    /// One number that is equal when two vectors are, and almost surely different when they are not.
    package var fingerprint: UInt64 {
        var bytes = ByteWriter()
        for entry in entries {
            bytes.write(entry.replica.value)
            bytes.write(entry.head.sequence)
            bytes.write(entry.head.digest)
        }
        return bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (0, 0)) }
    }

    private func position(of replica: ReplicaID) -> Int {
        entries.partitioningIndex { $0.replica >= replica }
    }
}
