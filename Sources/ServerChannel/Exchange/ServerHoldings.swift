package import CRDT

/// What the server holds of each job, as far as it has said: the fingerprints of its version vectors.
package struct ServerHoldings: Hashable, Sendable {
    /// For the next list; nil before the first, which then begins with the first job.
    package private(set) var cursor: String?
    /// By job, as `VersionVector.fingerprint`; of an empty vector where the server has said that it knows no such job.
    package private(set) var fingerprints: [JobID: UInt64] = [:]

    /// Knows of nothing that the server holds.
    package init() {}

    /// Takes a list in; one from the start replaces all that was known.
    package mutating func update(_ list: JobChangeList) {
        // The server was started again, perhaps set back: it may have lost what it once said to hold.
        if list.isFromStart { fingerprints = [:] }
        for entry in list.entries { fingerprints[entry.job] = entry.fingerprint }
        cursor = list.cursor
    }

    /// Takes in what an exchange about one job has told.
    package mutating func note(_ vector: VersionVector, of job: JobID) {
        fingerprints[job] = vector.fingerprint
    }
}
