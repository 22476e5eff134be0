package import CRDT

/// What the server holds of each job, as far as it has said: the fingerprints of its version vectors.
package struct ServerHoldings: Hashable, Sendable {
    /// For the next list.
    package private(set) var cursor: String?
    package private(set) var fingerprints: [JobID: UInt64] = [:]

    package init() {}

    package mutating func update(_ list: JobChangeList) {
        // The server was started again, perhaps set back: it may have lost what it once said to hold.
        if list.isFromStart { fingerprints = [:] }
        for entry in list.entries { fingerprints[entry.job] = entry.fingerprint }
        cursor = list.cursor
    }

    package mutating func note(_ vector: VersionVector, of job: JobID) {
        fingerprints[job] = vector.fingerprint
    }
}
