import CRDT
import Inventory

/// Says in a journal whose the work of other laptops is that is issued again there, wherever that changes.
struct ReissuedPeople {
    /// Of the journals from which the work comes.
    private let sessions: WorkSessions
    /// Of the journal to which it goes, and where what was said there last of an author stands.
    private let known: WorkSessions
    private let journal: ReplicaID
    private var said: [ReplicaID: (text: String, stamp: Stamp)] = [:]

    /// - Parameter journal: to which it goes, as `known` has it.
    init(of sessions: WorkSessions, in journal: ReplicaID, of known: WorkSessions) {
        self.sessions = sessions
        self.known = known
        self.journal = journal
    }

    /// What has to stand before a change.
    ///
    /// - Parameters:
    ///   - change: as it is issued again, with its author.
    ///   - dot: where it stood.
    mutating func before(_ change: Change, from dot: Dot) -> Change? {
        let author = change.origin ?? dot.replica
        let record = sessions.record(of: author, in: dot.replica, before: dot.sequence)
        let last =
            said[author] ?? known.record(of: author, in: journal, before: .max).map { ($0.text, $0.stamp) }
        let text = record?.text ?? ""
        guard text != last?.text ?? "" || last.map({ $0.stamp >= change.stamp }) ?? false else { return nil }
        // Less than what follows, so that stamps tell who wrote.
        let stamp = min(record?.stamp ?? change.stamp, Stamp(rawValue: max(change.stamp.rawValue, 1) - 1))
        said[author] = (text, stamp)
        return Change(
            item: .job, stamp: stamp, anchor: change.anchor, origin: author,
            operations: [.set(field: JobProperty.person(author), value: text, replaces: [])])
    }
}
