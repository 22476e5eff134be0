package import HTTPCoding

/// What `muster doctor` shows: one finding per part of the daemon.
package struct DoctorReport: Codable, Hashable, Sendable {
    /// In the order in which they are shown; `muster doctor` puts its own, `daemon`, first.
    package var checks: [HealthCheck]
    /// Whether no check has failed; warnings are allowed.
    package var isHealthy: Bool

    /// Works out `isHealthy`: true without any checks.
    package init(checks: [HealthCheck]) {
        self.checks = checks
        isHealthy = checks.allSatisfy { $0.outcome != .failed }
    }
}

/// One part of the daemon: how it is, and what to do about it.
package struct HealthCheck: Codable, Hashable, Sendable {
    /// How a part is; only `failed` lets `muster doctor` exit with 1.
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case ok
        /// It works, but not as well as it could.
        case warning
        case failed
    }

    /// `discovery`, `network`, `fleet`, `clock`, `server`, `queue`, `disk` or `store`, and `daemon`, which `muster` adds; more
    /// may come.
    package var name: String
    /// Comes with a remedy unless it is `ok`.
    package var outcome: Outcome
    /// What was found.
    package var finding: String
    /// What to do about it; null when it is well.
    @Nullable package var remedy: String?

    /// `finding` and `remedy` are shown as `FINDING; REMEDY`: no full stop, no capital.
    package init(_ name: String, _ outcome: Outcome, _ finding: String, remedy: String? = nil) {
        self.name = name
        self.outcome = outcome
        self.finding = finding
        self.remedy = remedy
    }
}
