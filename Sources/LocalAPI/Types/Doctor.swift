/// What `muster doctor` shows: one finding per part of the daemon.
package struct DoctorReport: Codable, Hashable, Sendable {
    package var checks: [HealthCheck]
    /// Whether no check has failed; warnings are allowed.
    package var isHealthy: Bool

    package init(checks: [HealthCheck]) {
        self.checks = checks
        isHealthy = checks.allSatisfy { $0.outcome != .failed }
    }
}

package struct HealthCheck: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case ok
        /// It works, but not as well as it could.
        case warning
        case failed
    }

    /// `daemon`, `discovery`, `network`, `clock`, `disk`, `store` or `jobs`; more may come.
    package var name: String
    package var outcome: Outcome
    /// What was found.
    package var finding: String
    /// What to do about it; null when it is well.
    @Nullable package var remedy: String?

    package init(_ name: String, _ outcome: Outcome, _ finding: String, remedy: String? = nil) {
        self.name = name
        self.outcome = outcome
        self.finding = finding
        self.remedy = remedy
    }
}
