import CRDT

/// The server's journal of the job: what it orders, whose sequences are the anchors (rule R7).
struct Channel {
    private var journal: [(first: UInt64, head: JournalHead, record: [UInt8])] = []

    mutating func add(at time: UInt64) {
        let last = journal.last?.head ?? .empty
        let value = "state \(journal.count)"
        let change = Change(
            item: .job, stamp: Stamp(milliseconds: time, counter: 0),
            operations: [.set(field: "state", value: value, replaces: [])])
        let record = ChangeCodec.encode(change)
        let digest = record.withUnsafeBytes { JournalDigest.extend(last.digest, with: $0) }
        let head = JournalHead(sequence: last.sequence + 1, digest: digest)
        journal.append((head.sequence, head, record))
    }

    func segment(after known: JournalHead) -> JournalSegment? {
        let missing = journal.filter { $0.first > known.sequence }
        guard let first = missing.first, let last = missing.last else { return nil }
        return JournalSegment(
            replica: .channel, first: first.first, head: last.head, bytes: missing.flatMap(\.record))
    }
}
