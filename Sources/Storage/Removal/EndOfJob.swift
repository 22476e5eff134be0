import Authorship
package import CRDT
import GRDB

/// Who may end a job (docs/membership.md, "The end of a job").
extension JobTransaction {
    /// By what a journal has said of the end of the job it ends.
    ///
    /// - Returns: nil where nothing was said by who may.
    func removal(by said: [SaidRemoval], in journal: JournalRows) throws -> JobRemoval? {
        guard !said.isEmpty else { return nil }
        let roster = try store.roster(of: id, in: db)
        let counting = try said.filter { try mayEnd(by: $0, in: journal, roster) }
        if counting.count < said.count, let author = try AuthorTable(db: db).author(named: journal.replica) {
            tell(of: RefusedEnd(job: id, journal: journal.replica, device: author.device))
        }
        guard let first = counting.first?.removal else { return nil }
        return counting.dropFirst().reduce(first) { $0.merged(with: $1.removal) }
    }

    private func mayEnd(by said: SaidRemoval, in journal: JournalRows, _ roster: JobRoster) throws -> Bool {
        guard roster.isAssigned, journal.replica != .channel, journal.replica != own.replica,
            let author = try AuthorTable(db: db).author(named: journal.replica)
        else { return true }
        return try roster.wasOn(author.device, at: said.stamp) ?? job.shows(said.removal, to: roster)
    }
}

extension JobRows {
    /// Whether a removal knows what only who was told of the job can know: how far, with its digest, a journal went of somebody who is
    /// on the job, or the server's.
    func shows(_ removal: JobRemoval, to roster: JobRoster) throws -> Bool {
        try removal.heads.entries.contains { entry in
            try isTrue(entry) && isWritten(entry.replica, byNamed: roster)
        }
    }

    /// Whether a journal has stood there, as far as this store can tell by what it holds itself.
    func isTrue(_ entry: VersionVector.Entry) throws -> Bool {
        let journal = journal(of: entry.replica)
        guard try entry.head.sequence > journal.removedHead().sequence,
            try entry.head.sequence <= journal.head().sequence
        else { return false }
        return try journal.passes(entry.head)
    }

    private func isWritten(_ replica: ReplicaID, byNamed roster: JobRoster) throws -> Bool {
        if replica == .channel { return true }
        return try AuthorTable(db: db).author(named: replica).map { roster.names($0.device) } ?? false
    }
}

extension Store {
    /// Whether who says that a job has ended shows by it that it was told of the job.
    package func isShown(by removal: JobRemoval, of job: JobID) async throws -> Bool {
        try await read { [self] db in
            guard let rows = try JobRows(known: job, in: db) else { return false }
            return try rows.shows(removal, to: roster(of: job, in: db))
        }
    }
}
