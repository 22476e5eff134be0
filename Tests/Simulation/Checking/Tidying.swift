import CRDT
import Storage

/// The end of a run: nobody is away for ever, so nothing may stay behind for ever (rule R10).
extension World {
    /// What everybody on the roster can hold is forgotten in bounded time. Then a person takes those off whom no laptop
    /// speaks for any more, and deals with the late work: after that nothing at all is left of what was removed.
    func checkForgetting() async throws {
        guard !devices[0].reference.heads.isEmpty else { return }
        try await waitUntilForgotten()
        guard try await tidyUp() else { return }
        try await waitUntilForgotten()
        for device in devices { try await checker.look(at: device, now: now) }
        if let entry = devices[0].reference.undecided.first {
            throw Violation("liveness", "the late work at \(entry.first) is left, though a person has dealt with it.")
        }
    }

    private func waitUntilForgotten() async throws {
        let deadline = now + Self.patience
        while let item = forgettable.min() {
            guard now < deadline else {
                let left = devices[0].reference.items[item]?.filter { !devices[0].reference.isForgotten($0) } ?? []
                let places = left.map { "\($0.dot)" }.joined(separator: " ")
                throw Violation(
                    "liveness", "all of the roster hold the removal of \(item), and it is not forgotten: \(places).")
            }
            try await run(until: now + 1_000_000)
        }
    }

    /// Removed items whose every replica on the roster is here. What is late or held waits for a person or for its time.
    private var forgettable: [ItemID] {
        let reference = devices[0].reference
        guard haveConverged, !reference.statements.isJobRemoved else { return [] }
        let names = Set(devices.map(\.store.identity.replica))
        guard reference.roster.allSatisfy(names.contains), reference.statements.speaksOnlyOf(reference.heads) else {
            return []
        }
        return reference.items.compactMap { item, entries in
            let left = entries.filter { !reference.isForgotten($0) }
            let isWaiting = left.contains { reference.isLate($0) || reference.held.contains($0.dot) }
            return left.contains(where: \.isRemoval) && !isWaiting ? item : nil
        }
    }

    /// - Returns: whether there was something to do.
    private func tidyUp() async throws -> Bool {
        let reference = devices[0].reference
        let names = Set(devices.map(\.store.identity.replica))
        let lost = reference.statements.isJobRemoved ? [] : reference.roster.filter { !names.contains($0) }
        for replica in lost { try await expel(replica, by: devices[0]) }
        if !lost.isEmpty { try await waitForAgreement() }
        var rounds = 0
        while !devices[0].reference.undecided.isEmpty, rounds < 2 * devices.count {
            rounds += 1
            try await decideLate(by: devices[rounds % devices.count], accepts: (plan.seed + UInt64(rounds)) % 2 == 0)
            try await waitForAgreement()
        }
        return !lost.isEmpty || rounds > 0
    }

    private func waitForAgreement() async throws {
        let deadline = now + Self.patience
        repeat { try await run(until: now + 1_000_000) } while !haveConverged && now < deadline
        guard haveConverged else { throw Violation("liveness", "the vectors differ after a person has tidied up.") }
    }
}

extension Reference {
    /// Who has to hold a removal before it is forgotten.
    fileprivate var roster: [ReplicaID] {
        heads.keys.sorted().filter { $0 != .channel && !statements.isExpelled($0) }
    }

    fileprivate var undecided: [Entry] { late.filter { $0.first > statements.decided(of: $0.replica) } }
}
