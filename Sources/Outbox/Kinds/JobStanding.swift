package import CRDT
package import Inventory

/// What the server has published about a job, or what is shown of it.
package struct JobStanding: Hashable, Sendable {
    /// By name; of one name the last in the channel.
    package private(set) var values: [FieldName: String]
    /// The digest of the job's canonical export as whoever decides holds it; nil where it is not at hand.
    package var digest: String?

    package init(values: [FieldName: String] = [:], digest: String? = nil) {
        self.values = values
        self.digest = digest
    }

    package subscript(name: FieldName) -> String? { values[name] }

    /// Nil before the server has opened the job.
    package var state: JobState? { values[.jobState].flatMap(JobState.init) }

    package mutating func publish(_ published: [PublishedValue]) {
        for value in published { values[value.name] = value.value }
    }
}

extension FieldName {
    package static let jobState: FieldName = "state"
    package static let jobName: FieldName = "name"
    package static let jobKind: FieldName = "kind"
    /// JSON: `name` of who signed, the `digest` that the customer saw, and the server's own `serverDigest` at that time.
    package static let signature: FieldName = "signature"
}
