package import CRDT
package import Inventory

/// What the server has published about a job, or what is shown of it.
package struct JobStanding: Hashable, Sendable {
    /// By name; of one name the last in the channel.
    package private(set) var values: [FieldName: String]
    /// The digest of the job's canonical export as whoever decides holds it; nil where it is not at hand.
    package var digest: String?

    /// By default a job that the server does not know, without a digest.
    package init(values: [FieldName: String] = [:], digest: String? = nil) {
        self.values = values
        self.digest = digest
    }

    /// Nil for what the server has not published.
    package subscript(name: FieldName) -> String? { values[name] }

    /// Nil before the server has opened the job.
    package var state: JobState? { values[.jobState].flatMap(JobState.init) }

    /// Takes values in, in order: of one name the last counts.
    package mutating func publish(_ published: [PublishedValue]) {
        for value in published { values[value.name] = value.value }
    }
}

extension FieldName {
    /// The raw value of a `JobState`; there from when the server has opened the job.
    package static let jobState: FieldName = "state"
    /// What the office calls the job.
    package static let jobName: FieldName = "name"
    /// The raw value of a `JobKind`.
    package static let jobKind: FieldName = "kind"
    /// JSON: `name` of who signed, the `digest` that the customer saw, the `vector` of that inventory (`SignedVector`)
    /// unless an older version asked, and the server's own `serverDigest` at that time.
    package static let signature: FieldName = "signature"
}
