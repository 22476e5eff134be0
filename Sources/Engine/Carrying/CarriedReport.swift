package import CRDT

/// What has come in by a file.
package struct CarriedReport: Sendable {
    /// Of one job.
    package struct Job: Sendable {
        /// Transforms that were not here before.
        package var changes: UInt64 = 0
        /// Who has written them.
        package var authors: Set<DeviceID> = []
        /// The job has ended by it.
        package var hasEnded = false
        /// What was not taken, and why, in sentences; the same one once.
        package var refused: [String] = []

        /// Nothing of it was new, and nothing was refused.
        package var isEmpty: Bool { changes == 0 && !hasEnded && refused.isEmpty }

        mutating func refuse(_ sentence: String) {
            if refused.count < 8, !refused.contains(sentence) { refused.append(sentence) }
        }
    }

    /// Those of which something was new or refused.
    package var jobs: [JobID: Job] = [:]
    /// How many words about who is in the fleet, or on a job, were new.
    package var words = 0
}

/// The rest of a carried file is not read: where a link would be closed.
package struct CarryStop: Error, Hashable, Sendable {
    /// Why, in a sentence.
    package let sentence: String
    /// It is this laptop that could not take it, and may later.
    package let isOwn: Bool

    /// Takes one whole sentence, or more.
    package init(sentence: String, isOwn: Bool = false) {
        self.sentence = sentence
        self.isOwn = isOwn
    }
}
