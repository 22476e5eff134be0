package import HTTPCoding

/// A change to a job that was removed meanwhile, which its remover had not seen: in the journal, not applied, and a
/// person decides (rule R10).
package struct LateChange: Codable, Hashable, Sendable {
    /// What a decision names it by: its journal's replica id, 32 hexadecimal digits, a colon and a number.
    package var id: String
    /// Who wrote it: a replica id.
    package var by: String
    /// The author's laptop, if known.
    @Nullable package var byName: String?
    /// What it says; of its fields neither `from` nor `standing` is known.
    package var change: ChangeReport

    /// `by` is the first author, which need not be the journal that `id` names: it may have been issued again.
    package init(id: String, by: String, byName: String? = nil, change: ChangeReport) {
        self.id = id
        self.by = by
        self.byName = byName
        self.change = change
    }
}

/// `POST /v1/jobs/{job}/late/accept` and `…/drop`: what a person has seen and decided.
package struct LateDecision: Codable, Hashable, Sendable, ClosedBody {
    /// The ids of the changes that it is about, and of no others. What has come in since then stays undecided.
    package var changes: [String]

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case changes }

    /// One that is not listed, or not any more, is refused with 404 `unknownChange`; nothing is decided then.
    package init(changes: [String]) {
        self.changes = changes
    }
}

/// What a decision was about.
package struct LateOutcome: Codable, Hashable, Sendable {
    /// How many late changes it has settled.
    package var changes: Int
    /// The id of the job that holds what was accepted; null when it was dropped.
    @Nullable package var newJob: String?

    /// Everybody derives `newJob` from the job's id alike, so that two who accept make one job.
    package init(changes: Int, newJob: String? = nil) {
        self.changes = changes
        self.newJob = newJob
    }
}
