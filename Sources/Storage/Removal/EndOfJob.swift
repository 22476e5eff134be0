import Authorship
import CRDT
import GRDB

/// Whose word ends a job (docs/membership.md, "The end of a job").
extension JobTransaction {
    /// By what a journal has said of the end of the job it ends, as long as the job is everybody's. One that is for some ends by what is
    /// told over connections, whose other end is known: a journal says what it says for good, and who is on the job changes.
    ///
    /// - Returns: nil where the job goes on.
    func removal(by said: [JobRemoval], in journal: JournalRows) throws -> JobRemoval? {
        guard let first = said.first else { return nil }
        let roster = try store.roster(of: id, in: db)
        guard roster.isAssigned else { return said.dropFirst().reduce(first) { $0.merged(with: $1) } }
        if let device = try AuthorTable(db: db).author(named: journal.replica)?.device, !roster.includes(device) {
            tell(of: RefusedEnd(job: id, journal: journal.replica, device: device))
        }
        return nil
    }
}
