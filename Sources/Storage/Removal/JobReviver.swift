import Authorship
import CRDT
import GRDB

/// Takes back the end of a job, in the transaction that learns whom the job is for.
///
/// As long as nothing was said of that the job was everybody's, and anybody could end it, also somebody who has guessed its id. Whose
/// removal shows nothing of those who are on it never held it.
struct JobReviver {
    let job: JobRows
    let device: DeviceID
    /// This store's own name.
    let own: ReplicaID

    init(of job: JobRows, on device: DeviceID, own: ReplicaID) {
        self.job = job
        self.device = device
        self.own = own
    }

    /// The job is as if nobody had told of its end. Of what that has freed others hold what they had not shown; what lay beyond it is
    /// here.
    func revive(unlessEndedBy roster: JobRoster) throws {
        guard let removal = try job.removal(), try !isKnown(to: roster) else { return }
        for entry in removal.heads.entries where entry.replica != own {
            let journal = job.journal(of: entry.replica)
            for table in ["journal", "segment", "doubtful"] {
                try job.db.execute(
                    sql: "DELETE FROM \(table) WHERE job = ? AND replica = ?",
                    arguments: [job.number, entry.replica.value.blob])
            }
            try journal.forgetPeople()
            try job.forgetStatements(of: entry.replica, after: 0)
        }
        try job.forgetRemoval()
        guard try !job.vector().entries.isEmpty else {
            // Nothing but the removal had made it known.
            return try job.db.execute(sql: "DELETE FROM job WHERE number = ?", arguments: [job.number])
        }
        try job.rebuildItems()
        try job.rebuildDecisions(counting: try job.limits())
    }

    /// Whether it was ended by who had been told of it: of somebody named, or of this device, the removal has known the journal as it
    /// was held here.
    private func isKnown(to roster: JobRoster) throws -> Bool {
        try job.shownByRemoval().contains { replica in
            if replica == .channel { return true }
            guard let author = try AuthorTable(db: job.db).author(named: replica) else { return false }
            return author.device == device || roster.names(author.device)
        }
    }
}
