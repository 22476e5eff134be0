/// What one side holds of a job.
package struct JobHoldings: Hashable, Sendable {
    /// How far each journal is held.
    package var vector: VersionVector
    /// What the removers of the job held; nil while it lives.
    package var removal: JobRemoval?
    /// The server says no more than how far it holds the asking laptop's own journals: that laptop is not on the job.
    package var isOwnOnly = false

    /// By default nothing of a job that lives.
    package init(vector: VersionVector = VersionVector(), removal: JobRemoval? = nil) {
        self.vector = vector
        self.removal = removal
    }

    /// Whether a removal adds nothing to what this side knows.
    package func knows(_ removal: JobRemoval) -> Bool { self.removal?.covers(removal) ?? false }
}
