import CRDT
import Storage

/// Rules R5 and R6: what stamps may be.
extension Checker {
    static let toleranceMilliseconds: Int64 = 5 * 60 * 1_000

    /// When a store writes something of its own.
    struct Writing {
        /// Corrected time, in milliseconds since 1970, and how far ahead of it the laptop stamps.
        let time: UInt64
        let lie: UInt64
        /// The time was read in the transaction itself.
        let isPrompt: Bool

        var greatest: UInt64 { time + lie + UInt64(Checker.toleranceMilliseconds) }
    }

    /// A new change is stamped with corrected time, or just after what it follows; and not beyond the tolerance unless
    /// its item shows such a stamp: what comes from the future moves no clock (rule R6).
    ///
    /// - Parameter before: nil when other work became durable in the same moment, and in no known order.
    func checkStamps(
        of added: [Reference.Entry], in job: JobID, knowing before: Reference?, by device: Holder, _ writing: Writing
    ) throws {
        let time = writing.time + writing.lie
        for entry in added where entry.change.origin == nil {
            let change = entry.change
            let stamp = change.stamp
            count(.stamp)
            if writing.isPrompt, stamp.milliseconds < time {
                throw Violation("R5", "\(device) stamped \(stamp), its time was \(time).")
            }
            let item = device[job].latestStamp(of: change.item, without: entry.dot)
            // What it made an edit on top of must not win over it.
            if let before, change.item != .job,
                stamp.rawValue <= before.latestStamp(of: change.item, without: entry.dot)
            {
                throw Violation("R1", "\(device) wrote \(stamp) on an item that shows a later stamp.")
            }
            if writing.isPrompt, stamp.milliseconds > writing.greatest, stamp.rawValue > item + 1 {
                throw Violation(
                    "R6", "\(device) stamped \(stamp) at \(time): something from the future moved its clock.")
            }
            if let before { try checkAnchor(of: entry, knowing: before, by: device) }
        }
    }

    /// Rule R7: what follows something in the order is what its author had seen it on top of.
    private func checkAnchor(
        of entry: Reference.Entry, knowing before: Reference, by device: Holder
    ) throws {
        guard !before.isRemoved else { return }
        let wanted = max(before.head(of: .channel).sequence, before.greatestAnchor)
        guard entry.change.anchor != wanted else { return }
        throw Violation("R7", "\(device) anchored at \(entry.change.anchor) what it wrote, not at \(wanted).")
    }

    /// Work that nobody had seen now has the stamps that it would have had, in its order; all other work is as it was.
    ///
    /// - Returns: the work that had other stamps before.
    func restamped(
        _ new: [Reference.Entry], instead old: [Reference.Entry], of job: JobID, _ fresh: Reference, on device: Holder,
        time: UInt64
    ) throws -> Set<Written> {
        try check(new, instead: old, of: job, fresh, on: device, time: time)
        remember(new)
        acknowledgeAgain(new, in: job)
        return Set(old.filter { $0.change.origin == nil }.flatMap(\.work))
    }

    private func check(
        _ new: [Reference.Entry], instead old: [Reference.Entry], of job: JobID, _ fresh: Reference, on device: Holder,
        time: UInt64
    ) throws {
        let restamped = Dictionary(uniqueKeysWithValues: new.map { ($0.first, $0) })
        for before in old {
            guard let after = restamped[before.first], before != after else { continue }
            var same = before.change
            same.stamp = after.change.stamp
            guard same == after.change else {
                throw Violation("R5", "\(device) changed more than stamps: \(same.stamp).")
            }
            // As for a new edit, one that followed a stamp from a little ahead draws the next along.
            let latest = time + UInt64(Self.toleranceMilliseconds)
            let item = fresh.latestStamp(of: same.item, without: after.dot)
            // What went with a removed job may have drawn it along, and is not here any more.
            if !fresh.isRemoved, same.stamp.milliseconds > latest, same.stamp.rawValue > item + 1 {
                throw Violation("R5", "\(device) re-stamped to \(same.stamp), in the future.")
            }
            let place = PublishedPlace(job: job, dot: before.dot)
            if published[place] != nil, !forkable.contains(before.replica) {
                throw Violation("R5", "\(device) re-stamped \(before.first), which was seen.")
            }
        }
    }

    /// The same work, under the stamp that it has now.
    private func acknowledgeAgain(_ entries: [Reference.Entry], in job: JobID) {
        for entry in entries where entry.change.origin == nil {
            for work in entry.work {
                acknowledged[Acknowledged(job: job, dot: entry.dot, item: work.item, deed: work.deed)]?.insert(
                    work.write)
            }
        }
    }
}
