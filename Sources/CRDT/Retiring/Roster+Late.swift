/// Late work: what a replica wrote beyond what a cut knows of it, without a word that it knew what the cut is about.
///
/// A cut is an expulsion, a fold, or the removal of the job. A change that only makes statements is never late. One that
/// a cut knows only half of stands on a branch that the cut's author does not hold (rule R9): its end counts.
///
/// The server is on no roster, so no fold waits for it and none makes what it re-issues late: a fold names the items that
/// are gone. Nor can anybody but itself take it off.
extension Roster {
    /// The sequences of a journal at which a change is late: ascending, apart from each other; the last may be open.
    package func lateSpans(of replica: ReplicaID) -> [ClosedRange<UInt64>] {
        guard hasCuts else { return [] }
        var spans: [ClosedRange<UInt64>] = []
        // No hold helps against the removal of the job: there is nothing left to know.
        if let removal { spans.append(removal[of: replica] + 1...UInt64.max) }
        for expulsion in expulsions where expulsion.replica == replica {
            guard replica != .channel || expulsion.dot.replica == .channel else { continue }
            add(&spans, after: expulsion.known, until: firstHold(of: replica, showing: expulsion))
        }
        guard replica != .channel else { return spans.joined }
        for fold in folds where !fold.members.contains(replica) {
            let redeeming = holds[replica]?.first { knows($0, of: fold, owner: replica) }
            add(&spans, after: fold.bounds[of: replica], until: redeeming?.sequence)
        }
        return spans.joined
    }

    /// The late spans of journals that reach so far.
    package func lateSpans(within heads: [Position]) -> [ReplicaID: [ClosedRange<UInt64>]] {
        guard hasCuts else { return [:] }
        var late: [ReplicaID: [ClosedRange<UInt64>]] = [:]
        for head in heads {
            let spans = lateSpans(of: head.replica).compactMap { span in
                span.lowerBound <= head.sequence ? span.lowerBound...min(span.upperBound, head.sequence) : nil
            }
            if !spans.isEmpty { late[head.replica] = spans }
        }
        return late
    }

    /// Whoever held all that the fold's bounds say held the tombstones themselves; whoever held the fold has folded.
    private func knows(_ hold: Hold, of fold: FoldCut, owner: ReplicaID) -> Bool {
        if reach(hold, of: fold.dot.replica, owner: owner) >= fold.dot.sequence { return true }
        return fold.bounds.allSatisfy { reach(hold, of: $0.replica, owner: owner) >= $0.sequence }
    }

    private func add(_ spans: inout [ClosedRange<UInt64>], after known: UInt64, until hold: UInt64?) {
        guard let hold else {
            spans.append(known + 1...UInt64.max)
            return
        }
        if hold > known + 1 { spans.append(known + 1...hold - 1) }
    }
}

extension [ClosedRange<UInt64>] {
    /// The same numbers in as few ranges as there can be, ascending.
    package var joined: [ClosedRange<UInt64>] {
        var joined: [ClosedRange<UInt64>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            // Written so that nothing overflows at an open end.
            if let last = joined.last, range.lowerBound - 1 <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }

    /// Whether a number is in one of these, which ascend.
    package func holds(_ number: UInt64) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].lowerBound <= number
    }
}
