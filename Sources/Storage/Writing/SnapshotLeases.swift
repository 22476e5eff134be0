import Synchronization

/// The states of the store that somebody reads for long: while there are any, the write-ahead log cannot begin anew.
final class SnapshotLeases: Sendable {
    /// Something that can be given up before its time.
    protocol Lease: AnyObject, Sendable {
        func revoke()
    }

    private struct Held: Sendable {
        weak let lease: (any Lease)?
    }

    private let held = Mutex<[Held]>([])

    func add(_ lease: any Lease) {
        held.withLock { held in
            held.removeAll { $0.lease == nil }
            held.append(Held(lease: lease))
        }
    }

    /// Ends all of them; what is being read at this moment is read to its end.
    func end() {
        let ended = held.withLock { held in
            defer { held.removeAll() }
            return held.compactMap(\.lease)
        }
        for lease in ended { lease.revoke() }
    }
}
