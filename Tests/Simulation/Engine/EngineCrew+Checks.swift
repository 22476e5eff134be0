import CRDT
import Engine
import Storage
import Timekeeping

/// What has to be true of times and names, read from the journals without the merge.
extension EngineCrew {
    func check() throws {
        for laptop in laptops {
            // Each name that is given up stays behind in every job for ever.
            if !hasForks, laptop.names != [laptop.engine.store.identity.replica] {
                throw Violation("R9", "laptop \(laptop.index) took another name, though its disk is its own.")
            }
        }
        for (job, reference) in server.holder.references.sorted(by: { $0.key < $1.key }) where !reference.isRemoved {
            let changes = reference.texts
            if let text = Set(changes.map(\.text)).intersection(refused).min() {
                throw Violation("R4", "'\(text)' was refused and stands in \(job).")
            }
            try checkTimes(changes, written[job] ?? [:])
            try checkStampedAnew(changes, written[job] ?? [:])
        }
    }

    func countWhatHappened() {
        counters[.messages] = network.messages
        counters[.breaks] = network.breaks
        counters[.halfEnds] = network.halfEnds
        counters[.hangs] = network.hangs
        counters[.congestions] = network.congestions
        counters[.lost] = server.lost
        counters[.together] = server.together
        counters[.decidedInPart] = server.inPart
        counters[.wordsTakenBack] = server.wordsTakenBack
        counters[.requests] = server.decided.count
        counters.checks = checker.checked
        counters.treasons = traitor?.told ?? [:]
        counters[.late] = checker.checked[.lateChange] ?? 0
        counters[.lookedFor] = checker.checked[.acknowledged] ?? 0
        counters[.lookedAt] = checker.checked.values.reduce(0, +)
    }

    /// A clock that says to know the time is as near to it as it says (rule R5).
    func checkClocks() throws {
        for laptop in laptops where laptop.isAwake {
            let clock = laptop.engine.clock.overview
            guard clock.isSynchronised else { continue }
            checker.count(.clock)
            let error = abs(clock.time - VirtualClock.epoch - scheduler.now)
            guard error > clock.uncertainty + 2 else { continue }
            throw Violation(
                "R5", "laptop \(laptop.index) is \(error) µs off and says to be within \(clock.uncertainty).")
        }
    }

    /// Who knows the time stamps by it, and nobody's step of the clock takes that back (rule R5): so what one laptop
    /// wrote keeps its order.
    private func checkTimes(_ changes: [EngineChange], _ written: [String: Written]) throws {
        var last: EngineChange?
        for change in changes {
            guard let written = written[change.text], written.isSynchronised, !change.isReissued else { continue }
            // An exchange in whose midst a lid was closed says little; half the delays of all others together are less.
            guard change.stamp.milliseconds + written.doubt + 3_000 >= written.begun else {
                throw Violation(
                    "R5",
                    "'\(change.text)' is stamped \(written.begun - change.stamp.milliseconds) ms before it was written."
                )
            }
            // What came from the future, or was written on top of that, holds nobody back.
            let limit = written.begun + UInt64(Checker.toleranceMilliseconds)
            if let last, last.journal == change.journal, last.stamp.milliseconds < limit, change.stamp < last.stamp {
                throw Violation("R5", "'\(change.text)' was written after '\(last.text)' and stamped before it.")
            }
            last = change
        }
    }

    /// Its stamp is just behind that of another write on its item.
    private func isPushed(_ change: EngineChange, among changes: [EngineChange]) -> Bool {
        changes.contains {
            $0.item == change.item && ($0.journal, $0.stamp) != (change.journal, change.stamp)
                && $0.stamp <= change.stamp && $0.stamp.milliseconds + 2 > change.stamp.milliseconds
        }
    }

    /// What was written without the time and shown to nobody before the time was known is placed by the true time (rule R5),
    /// unless the machine was booted in between, or it stands on top of what came from the future.
    private func checkStampedAnew(_ changes: [EngineChange], _ written: [String: Written]) throws {
        for change in changes {
            guard let written = written[change.text], let unseen = written.unseen, !change.isReissued else { continue }
            let machine = laptops[written.laptop].machine
            guard machine.shownCount == unseen.shownCount, machine.bootID == unseen.boot else { continue }
            // Whose name was another's, too, does not know what that one has shown.
            guard change.journal == laptops[written.laptop].engine.store.identity.replica else { continue }
            guard !isPushed(change, among: changes) else { continue }
            counters[.stampedAnew] += 1
            let error = Int64(change.stamp.milliseconds) - Int64(written.begun)
            guard abs(error) < Int64(Checker.toleranceMilliseconds) else {
                throw Violation(
                    "R5", "'\(change.text)' was written without the time, seen by nobody, and stands \(error) ms off.")
            }
        }
    }
}

/// A text as it stands in a journal, read without the merge.
private struct EngineChange {
    let journal: ReplicaID
    /// Somebody else wrote it first.
    let isReissued: Bool
    let stamp: Stamp
    let item: ItemID
    let text: String
}

extension Reference {
    /// All that somebody wrote, journal by journal, in the order in which it stands there.
    fileprivate var texts: [EngineChange] {
        journals.sorted { $0.key < $1.key }.flatMap(\.value).flatMap { entry in
            entry.change.texts.map {
                EngineChange(
                    journal: entry.replica, isReissued: entry.change.origin != nil, stamp: entry.change.stamp,
                    item: entry.change.item, text: $0)
            }
        }
    }
}

extension Change {
    /// What people wrote with it that nobody else writes.
    var texts: [String] {
        operations.compactMap { operation in
            switch operation {
            case .set(_, let value, _) where value.contains(" by "): value
            case .append(_, let entry): entry
            default: nil
            }
        }
    }
}
