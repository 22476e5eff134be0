import Authorship
import CRDT

/// Where a run of a journal and what is held of that journal part.
struct Divergence: Hashable, Sendable {
    /// Up to here both are the same; it ends a change.
    let agreed: UInt64
    /// What is held here stays: the change after that has the smaller hash, as between two laptops (rule R9).
    let staysHere: Bool
}

extension JournalRows {
    /// Compares a run that does not continue what is held with what is held.
    ///
    /// - Returns: nil when they part before the run begins, so that the run does not show where.
    /// - Throws: `CodecError` for a malformed run, `StoreError` for everything else.
    func divergence(of segment: JournalSegment) throws -> Divergence? {
        let removed = try removedHead()
        // What went with its job is known, and can be compared with nothing any more.
        if segment.head.sequence <= removed.sequence {
            return Divergence(agreed: segment.head.sequence, staysHere: true)
        }
        guard let base = try head(at: segment.first - 1),
            try base.after(segment.bytes) == segment.head
        else { return nil }
        var here: [Step] = []
        let bytes = segment.bytes.count + Self.longestSegmentBytes
        for piece in try pieces(from: segment.first, maximumBytes: bytes) {
            let before = try headBefore(piece.first)
            do { here += try Self.steps(of: piece.bytes, after: before) } catch is CodecError {
                throw StoreError(.damaged, "A journal cannot be read; the store is damaged.")
            }
        }
        here.removeAll { $0.head.sequence <= base.sequence }
        let there = try Self.steps(of: segment.bytes, after: base)
        var known = Dictionary(
            here.map { ($0.head.sequence, $0.head.digest) }, uniquingKeysWith: { first, _ in first })
        known[removed.sequence] = removed.digest
        let agreed = there.last { known[$0.head.sequence] == $0.head.digest }?.head.sequence ?? base.sequence
        // They part within what went.
        guard agreed >= removed.sequence else { return nil }
        // Who has nothing there has nothing to lose.
        guard let ours = here.first(where: { $0.head.sequence > agreed }),
            let theirs = there.first(where: { $0.head.sequence > agreed })
        else { return Divergence(agreed: agreed, staysHere: false) }
        // What counts of a laptop that was revoked stays, on whichever side it is.
        let counts = try job.limits(and: replica)[replica]?.head
        let (isOurs, isTheirs) = (
            try isCounted(through: ours.head.sequence),
            counts.map { head in there.contains { $0.head == head } } ?? false
        )
        if isOurs != isTheirs { return Divergence(agreed: agreed, staysHere: isOurs) }
        return Divergence(
            agreed: agreed, staysHere: (ours.rank, ours.head.sequence) <= (theirs.rank, theirs.head.sequence))
    }

    /// Where the journal stands after a change.
    private struct Step {
        let head: JournalHead
        let rank: UInt64
    }

    private static func steps(of bytes: [UInt8], after base: JournalHead) throws -> [Step] {
        var steps: [Step] = []
        var head = base
        try ChangeCodec.scan(bytes) { scanned, buffer in
            head = head.after(scanned, in: buffer)
            steps.append(Step(head: head, rank: scanned.hash(in: buffer)))
        }
        return steps
    }

    /// Where the journal stands at a sequence that ends a change; nil within one, and beyond its end.
    private func head(at sequence: UInt64) throws -> JournalHead? {
        guard sequence > 0 else { return .empty }
        let head = try boundary(at: sequence)?.head
        return head?.sequence == sequence ? head : nil
    }
}
