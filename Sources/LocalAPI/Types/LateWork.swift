/// A change that came after its author was off the roster, or after what it changes was forgotten: in the journal, not
/// applied, and a person decides (rule R10).
package struct LateChange: Codable, Hashable, Sendable {
    /// The replica in whose journal it stands, 32 hexadecimal digits.
    package var replicaID: String
    /// Its laptop, if known.
    @Nullable package var name: String?
    /// The change's last transform in that journal: a decision counts up to such a number.
    package var last: UInt64
    package var change: ChangeReport

    package init(replicaID: String, name: String? = nil, last: UInt64, change: ChangeReport) {
        self.replicaID = replicaID
        self.name = name
        self.last = last
        self.change = change
    }
}

/// `POST /v1/jobs/{job}/late/accept` and `…/drop`: what a person has seen and decided.
package struct LateDecision: Codable, Hashable, Sendable {
    /// Per replica id, the transform up to which the decision counts: `last` of the last change that was seen. What came
    /// in since then stays undecided.
    package var upTo: [String: UInt64]

    package init(upTo: [String: UInt64]) {
        self.upTo = upTo
    }
}

/// What a decision was about.
package struct LateOutcome: Codable, Hashable, Sendable {
    /// How many late changes it has settled.
    package var changes: Int
    /// Whose they were: replica ids, sorted.
    package var replicas: [String]
    /// Where accepted work is: the job, or one of those that were made for it because the job had been removed.
    package var job: String
    /// The ids of the jobs that were made for it, one per replica.
    package var newJobs: [String]

    package init(changes: Int, replicas: [String], job: String, newJobs: [String] = []) {
        self.changes = changes
        self.replicas = replicas
        self.job = job
        self.newJobs = newJobs
    }
}
