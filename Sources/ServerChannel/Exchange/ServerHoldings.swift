package import CRDT

/// What the server holds of each job, as far as it has said: the fingerprints of its version vectors.
package struct ServerHoldings: Hashable, Sendable {
    /// For the next list; nil before the first, which then begins with the first job.
    package private(set) var cursor: String?
    /// By job, as `VersionVector.fingerprint`; of an empty vector where the server has said that it knows no such job.
    package private(set) var fingerprints: [JobID: UInt64] = [:]
    /// What it knows of who is on each, as `JobRoster.fingerprint`; none where it has not listed the job.
    package private(set) var assignments: [JobID: UInt64] = [:]

    /// Knows of nothing that the server holds.
    package init() {}

    /// Takes a list in; one from the start replaces all that was known.
    package mutating func update(_ list: JobChangeList) {
        // The server was started again, perhaps set back: it may have lost what it once said to hold.
        if list.isFromStart { (fingerprints, assignments) = ([:], [:]) }
        for entry in list.entries {
            if !entry.isOwnOnly { fingerprints[entry.job] = entry.fingerprint }
            assignments[entry.job] = entry.assignments
        }
        cursor = list.cursor
    }

    /// All is to be listed again: the server tells this laptop of others than before.
    package mutating func listAgain() { cursor = nil }

    /// Both know the same of who is on a job.
    package mutating func note(assignments fingerprint: UInt64, of job: JobID) { assignments[job] = fingerprint }

    /// Takes in what an exchange about one job has told.
    package mutating func note(_ vector: VersionVector, of job: JobID) {
        fingerprints[job] = vector.fingerprint
    }
}
