import CRDT
import Synchronization

/// The rosters that were needed last, so that an edit does not read again what a thousand statements say.
///
/// A roster is found by its job's mark: a random number that is drawn anew in each transaction that changes the job's
/// statements. So a mark stands for one content for ever: a transaction that is undone leaves an entry that nobody
/// asks for, and a reader of an older snapshot gets the older roster.
final class RosterCache: Sendable {
    static let shared = RosterCache()
    private static let jobs = 16
    /// Of all entries together, 32 bytes each. What would not fit alone is read each time.
    private static let positions = 384 << 10

    private struct Entry {
        let mark: Int64
        let roster: Roster
        let positions: Int
    }

    /// The last one used at the end.
    private let entries = Mutex<[Entry]>([])
    /// How many statements were decoded because no roster was at hand.
    private let decodings = Mutex(0)

    subscript(mark: Int64) -> Roster? {
        entries.withLock { entries in
            guard let index = entries.lastIndex(where: { $0.mark == mark }) else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.roster
        }
    }

    /// - Parameter former: the mark of the same job before, which only readers under way still ask for.
    func keep(_ roster: Roster, as mark: Int64, insteadOf former: Int64? = nil) {
        let positions = roster.positionCount
        guard positions <= Self.positions else { return }
        entries.withLock { entries in
            entries.removeAll { $0.mark == mark || $0.mark == former }
            entries.append(Entry(mark: mark, roster: roster, positions: positions))
            var total = entries.reduce(0) { $0 + $1.positions }
            while entries.count > Self.jobs || total > Self.positions { total -= entries.removeFirst().positions }
        }
    }

    var decodedStatements: Int { decodings.withLock { $0 } }

    func countDecoding() { decodings.withLock { $0 += 1 } }
}

extension Store {
    /// How many statements all stores of this process have decoded, for tests.
    package static var decodedStatements: Int { RosterCache.shared.decodedStatements }
}
