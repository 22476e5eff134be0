import CRDT
import Storage
import Timekeeping

/// Rules R5 and R6: what stamps and clocks may be, told from the world's true time.
extension Checker {
    static let toleranceMilliseconds: Int64 = 5 * 60 * 1_000

    /// How far off a clock is that claims to know: its claim has to be true.
    func learned(_ device: Device, now: Int64) throws {
        guard device.time.isSynchronised else { return }
        let elapsed = device.clock.elapsed(at: now)
        let error = abs(device.time.time(at: elapsed) - VirtualClock.epoch - now)
        let claim = device.time.quality(at: elapsed).uncertainty
        guard error > claim + 2 else { return }
        throw Violation("R5", "device \(device.index) is \(error) µs off and claims to be within \(claim).")
    }

    /// A new change is stamped with corrected time, or just after what it follows; and not beyond the tolerance unless
    /// its item shows such a stamp.
    func checkStamps(of added: [Reference.Entry], by device: Device, now: Int64) throws {
        try learned(device, now: now)
        let time = device.receiveTime(at: now).milliseconds + device.lieMilliseconds
        for entry in added {
            guard let change = entry.change else { continue }
            let stamp = change.stamp
            if stamp.milliseconds < time {
                throw Violation("R5", "device \(device.index) stamped \(stamp), its time was \(time).")
            }
            let item = device.reference.latestStamp(of: change.item, without: entry.dot)
            // What it made an edit on top of must not win over it.
            let others = device.reference.latestStamp(of: change.item, without: entry.dot, before: added)
            if change.item != .job, stamp.rawValue <= others, change.origin == nil {
                throw Violation("R1", "device \(device.index) wrote \(stamp) on an item that shows a later stamp.")
            }
            if change.anchor != device.reference.head(of: .channel).sequence {
                throw Violation("R7", "device \(device.index) anchored at \(change.anchor) what it wrote.")
            }
            if stamp.milliseconds > time + UInt64(Self.toleranceMilliseconds), stamp.rawValue > item + 1 {
                throw Violation(
                    "R6", "device \(device.index) stamped \(stamp) at \(time): a held change moved its clock.")
            }
        }
    }

    /// What was kept out of the items lies in the future, by the latest time that it may be; what lies in that future was
    /// kept out, unless its item was there already.
    func checkHolding(of added: [Reference.Entry], by device: Device, now: Int64) throws {
        let time = device.receiveTime(at: now)
        let limit = time.latestMilliseconds + UInt64(Self.toleranceMilliseconds)
        for entry in added {
            guard let change = entry.change, !entry.isStatement else { continue }
            let stamp = change.stamp.milliseconds
            let isHeld = device.reference.held.contains(entry.dot)
            if isHeld, stamp <= limit || !time.isSynchronised {
                throw Violation("R6", "device \(device.index) holds \(change.stamp), it is \(time.milliseconds).")
            }
            guard !isHeld, stamp > limit, time.isSynchronised else { continue }
            let item = device.reference.latestStamp(of: change.item, without: entry.dot) >> 16
            if stamp > item + UInt64(Self.toleranceMilliseconds) {
                throw Violation("R6", "device \(device.index) applied \(change.stamp) at \(time.milliseconds).")
            }
        }
    }

    /// Nothing is held whose time has come.
    func tookDue(_ device: Device, now: Int64) async throws {
        let held = try await device.store.heldChanges().filter { $0.job == job }
        let time = device.receiveTime(at: now)
        for change in held where change.stamp.milliseconds <= time.latestMilliseconds {
            throw Violation("R6", "device \(device.index) holds \(change.stamp) at \(time.milliseconds).")
        }
        if Set(held.map(\.dot)) != device.reference.held { try await look(at: device, now: now) }
    }

    /// Work that nobody had seen now has the stamps that it would have had, in its order; all other work is as it was.
    func restamped(_ device: Device, now: Int64) async throws {
        let former = device.reference
        let replica = device.store.identity.replica
        var fresh = try await read(device)
        fresh.remember(device.reference)
        let (old, new) = (former.journals[replica] ?? [], fresh.journals[replica] ?? [])
        let restamped = Dictionary(uniqueKeysWithValues: new.map { ($0.first, $0) })
        for before in old {
            // What is folded away has no stamp any more.
            guard let after = restamped[before.first], before != after, let change = after.change,
                var same = before.change
            else { continue }
            same.stamp = change.stamp
            guard same == change else {
                throw Violation("R5", "device \(device.index) changed more than stamps: \(same.stamp).")
            }
            // As for a new edit, one that followed a stamp from a little ahead draws the next along.
            let latest = device.receiveTime(at: now).milliseconds + UInt64(Self.toleranceMilliseconds)
            let item = fresh.latestStamp(of: change.item, without: after.dot)
            if change.stamp.milliseconds > latest, change.stamp.rawValue > item + 1 {
                throw Violation("R5", "device \(device.index) re-stamped to \(change.stamp), in the future.")
            }
            if published[before.dot] != nil, !forkable.contains(replica) {
                throw Violation("R5", "device \(device.index) re-stamped \(before.dot.sequence), which was seen.")
            }
        }
        device.reference = fresh
        remember(new)
        if device.time.isSynchronised { try checkUnseen(of: device, new, now: now) }
        try await look(at: device, now: now)
    }

    private func checkUnseen(of device: Device, _ entries: [Reference.Entry], now: Int64) throws {
        let elapsed = device.clock.elapsed(at: now)
        let claim = device.time.quality(at: elapsed).uncertainty / 1_000
        var last: UInt64 = 0
        for entry in entries {
            defer { last = max(last, entry.change?.stamp.rawValue ?? 0) }
            guard let written = device.unseen[entry.first], let change = entry.change else { continue }
            let truth = (VirtualClock.epoch + written) / 1_000
            // What the clock may have drifted since, at 200 parts per million.
            let bound = claim + (now - written) / 1_000 / 5_000 + 2
            let stamp = change.stamp
            let item = device.reference.latestStamp(of: change.item, without: entry.dot)
            let isExplained = stamp.rawValue <= max(last, item) + 1
            let error = Int64(stamp.milliseconds) - truth
            if error < -bound || error > bound && !isExplained {
                throw Violation("R5", "device \(device.index) wrote at \(truth) and now says \(stamp).")
            }
        }
        device.unseen = [:]
    }
}
