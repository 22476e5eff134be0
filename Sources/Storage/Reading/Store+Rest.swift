package import CRDT
import GRDB

/// What can be written down of a job at rest, so that nobody has to make it again at the next start.
package struct RestNote: Sendable {
    /// The job that it was made of.
    package let job: JobID
    fileprivate let number: Int64
    /// Nil where it is written down already.
    fileprivate let digest: JobDigest?
    fileprivate let totals: Store.AddedUp?
}

extension Store {
    /// Makes a job's digest and adds it up, when nobody waits.
    ///
    /// - Returns: what `keep` is to write down; nil when all of that is.
    package func restNote(of job: JobID) async throws -> RestNote? {
        let (totals, standing) = try await numberedTotals(of: job)
        let (digest, number, isKept) = try await numberedDigest(of: job)
        let added = standing.map { AddedUp(totals: totals, standing: $0) }
        if isKept, added == nil { return nil }
        return RestNote(job: job, number: number, digest: isKept ? nil : digest, totals: added)
    }

    /// Writes notes down, in one transaction: a thousand jobs that come to rest together cost the disk no thousand flushes.
    package func keep(_ notes: [RestNote]) async throws {
        guard !notes.isEmpty else { return }
        try await write { db in
            for note in notes {
                let job = JobRows(note.number, in: db)
                // Does nothing when the job has been removed meanwhile: it then has another number.
                if let digest = note.digest { try job.keep(digest) }
                // It may have changed since, and totals do not say of what they are.
                guard let added = note.totals, try Standing(of: job) == added.standing else { continue }
                try job.keep(added.totals)
            }
        }
    }
}
