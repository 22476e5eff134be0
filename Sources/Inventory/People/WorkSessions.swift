package import CRDT

/// A place in a journal from which on somebody else is at its author's laptop.
package struct WorkSessionRecord: Hashable, Sendable {
    /// The journal that holds it.
    package let journal: ReplicaID
    /// Whose laptop it speaks of: another one than the journal's where it was only issued again (rule R9).
    package let author: ReplicaID
    /// Of the change in the journal: it holds for what follows.
    package let sequence: UInt64
    /// Of the change.
    package let stamp: Stamp
    /// The greatest stamp that stands before it: of the journal, or, of what was issued again, of its author there.
    package let before: Stamp
    /// As `WorkSession.text`; empty when nobody is there.
    package let text: String

    /// Takes the parts as they stand in a journal.
    package init(
        journal: ReplicaID, author: ReplicaID, sequence: UInt64, stamp: Stamp, before: Stamp, text: String
    ) {
        self.journal = journal
        self.author = author
        self.sequence = sequence
        self.stamp = stamp
        self.before = before
        self.text = text
    }

    /// Nil when nobody is there.
    package var session: WorkSession? { WorkSession(text: text) }
}

extension Change {
    /// What a change in a journal says of who is at its author's laptop; nil for every other change. What one laptop says of
    /// another one's people counts for nothing, and statements stand by themselves.
    package func workSessionText(in journal: ReplicaID) -> String? {
        guard item == .job, !operations.contains(where: \.isStatement) else { return nil }
        let field = JobProperty.person(origin ?? journal)
        for case .set(field, let value, _) in operations { return value }
        return nil
    }
}

/// Who was at which laptop when, in one job: a change is of the person whom the last record of its author before it in the
/// same journal names.
package struct WorkSessions: Hashable, Sendable {
    /// Of one author in one journal.
    fileprivate struct Run: Hashable, Sendable {
        let journal: ReplicaID
        var records: [WorkSessionRecord]
    }

    private var runs: [ReplicaID: [Run]] = [:]

    /// Of a job of which nobody has said who is there.
    package init() {}

    /// - Parameter record: of one journal and author in the order of the journal.
    package mutating func add(_ record: WorkSessionRecord) {
        var known = runs[record.author] ?? []
        if let index = known.firstIndex(where: { $0.journal == record.journal }) {
            known[index].records.append(record)
        } else {
            known.append(Run(journal: record.journal, records: [record]))
        }
        runs[record.author] = known
    }

    /// Whose change stands at a place; nil when nobody says so.
    package func person(at key: TimelineKey) -> String? {
        record(of: key.replica, in: key.journal, before: key.sequence)?.session?.name
    }

    /// What holds for an author's change at a place of a journal.
    package func record(
        of author: ReplicaID, in journal: ReplicaID, before sequence: UInt64
    ) -> WorkSessionRecord? {
        guard let records = runs[author]?.first(where: { $0.journal == journal })?.records else { return nil }
        let next = records.partitioningIndex { $0.sequence >= sequence }
        return next > 0 ? records[next - 1] : nil
    }

    /// Who was last at the laptop of a replica, as far as its own journal says.
    package func latest(of replica: ReplicaID) -> WorkSession? {
        runs[replica]?.first { $0.journal == replica }?.records.last?.session
    }

    /// Whose a write is of which only the stamp is known; nil also where two people may have written it.
    ///
    /// A laptop's stamps ascend, but for those that follow a change from the future (rule R6), or a clock that was put
    /// right. So of the stretches between two records most are out of the question, and mostly one is left.
    package func person(of write: WriteStamp) -> String? {
        var found: Set<String?> = []
        for run in runs[write.author] ?? [] { found.formUnion(run.people(at: write.stamp)) }
        return found.count == 1 ? found.first ?? nil : nil
    }
}

extension WorkSessions.Run {
    /// Who may have written with a stamp.
    fileprivate func people(at stamp: Stamp) -> Set<String?> {
        var found: Set<String?> = []
        // Whoever writes says again who is there before a stamp that is less than what was said last: what follows a record
        // has a greater one.
        for (index, record) in records.enumerated() where stamp > record.stamp {
            if index + 1 < records.count, stamp > records[index + 1].before { continue }
            found.insert(record.session?.name)
        }
        if let first = records.first, stamp <= first.before { found.insert(nil) }
        return found
    }
}
