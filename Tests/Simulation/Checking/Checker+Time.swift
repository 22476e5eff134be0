import CRDT
import Storage
import Timekeeping

/// Rules R5 and R6: what stamps and clocks may be, told from the world's true time.
extension Checker {
    static let toleranceMilliseconds: Int64 = 5 * 60 * 1_000

    /// How far off a clock is that claims to know: its claim has to be true.
    func learned(_ device: Device, now: Int64) throws {
        guard device.time.isSynchronised else { return }
        count(.clock)
        let elapsed = device.clock.elapsed(at: now)
        let error = abs(device.time.time(at: elapsed) - VirtualClock.epoch - now)
        let claim = device.time.quality(at: elapsed).uncertainty
        guard error > claim + 2 else { return }
        throw Violation("R5", "device \(device.index) is \(error) µs off and claims to be within \(claim).")
    }

    /// A new change is stamped with corrected time, or just after what it follows; and not beyond the tolerance unless
    /// its item shows such a stamp: what comes from the future moves no clock (rule R6).
    func checkStamps(
        of added: [Reference.Entry], in job: JobID, knowing before: Reference, by device: Device, now: Int64
    ) throws {
        try learned(device, now: now)
        let time = device.receiveTime(at: now).milliseconds + device.lieMilliseconds
        for entry in added where entry.change.origin == nil {
            let change = entry.change
            let stamp = change.stamp
            count(.stamp)
            if stamp.milliseconds < time {
                throw Violation("R5", "\(device) stamped \(stamp), its time was \(time).")
            }
            let item = device[job].latestStamp(of: change.item, without: entry.dot)
            // What it made an edit on top of must not win over it.
            let others = before.latestStamp(of: change.item, without: entry.dot)
            if change.item != .job, stamp.rawValue <= others {
                throw Violation("R1", "\(device) wrote \(stamp) on an item that shows a later stamp.")
            }
            if stamp.milliseconds > time + UInt64(Self.toleranceMilliseconds), stamp.rawValue > item + 1 {
                throw Violation(
                    "R6", "\(device) stamped \(stamp) at \(time): something from the future moved its clock.")
            }
            try checkAnchor(of: entry, knowing: before, by: device)
        }
    }

    /// Rule R7: what follows something in the order is what its author had seen it on top of.
    private func checkAnchor(
        of entry: Reference.Entry, knowing before: Reference, by device: Device
    ) throws {
        guard !before.isRemoved else { return }
        let wanted = max(before.head(of: .channel).sequence, before.greatestAnchor)
        guard entry.change.anchor != wanted else { return }
        throw Violation("R7", "\(device) anchored at \(entry.change.anchor) what it wrote, not at \(wanted).")
    }

    /// Work that nobody had seen now has the stamps that it would have had, in its order; all other work is as it was.
    func restamped(_ device: Device, now: Int64) async throws {
        let former = device.references
        let replica = device.store.identity.replica
        let fresh = try await read(device)
        for (job, reference) in fresh.sorted(by: { $0.key < $1.key }) {
            let old = former[job]?.journals[replica] ?? []
            try check(reference.journals[replica] ?? [], instead: old, of: job, reference, on: device, now: now)
        }
        device.references = fresh
        for (job, reference) in fresh.sorted(by: { $0.key < $1.key }) {
            let new = reference.journals[replica] ?? []
            remember(new)
            acknowledgeAgain(new, in: job)
            if device.time.isSynchronised { try checkUnseen(of: device, job, new, now: now) }
            try await look(at: device, job)
        }
        if device.time.isSynchronised { device.unseen = [:] }
    }

    private func check(
        _ new: [Reference.Entry], instead old: [Reference.Entry], of job: JobID, _ fresh: Reference, on device: Device,
        now: Int64
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
            let latest = device.receiveTime(at: now).milliseconds + UInt64(Self.toleranceMilliseconds)
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

    private func checkUnseen(of device: Device, _ job: JobID, _ entries: [Reference.Entry], now: Int64) throws {
        let elapsed = device.clock.elapsed(at: now)
        let claim = device.time.quality(at: elapsed).uncertainty / 1_000
        var last: UInt64 = 0
        for entry in entries {
            let stamp = entry.change.stamp
            defer { last = max(last, stamp.rawValue) }
            guard let written = device.unseen[job]?[entry.first] else { continue }
            let truth = (VirtualClock.epoch + written) / 1_000
            // What the clock may have drifted since, at 200 parts per million.
            let bound = claim + (now - written) / 1_000 / 5_000 + 2
            let item = device[job].latestStamp(of: entry.change.item, without: entry.dot)
            let isExplained = stamp.rawValue <= max(last, item) + 1
            let error = Int64(stamp.milliseconds) - truth
            if error < -bound || error > bound && !isExplained {
                throw Violation("R5", "\(device) wrote at \(truth) in \(job) and now says \(stamp).")
            }
        }
    }
}
