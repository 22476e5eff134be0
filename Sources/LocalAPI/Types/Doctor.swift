package import HTTPCoding

/// What `muster doctor` shows: one finding per part of the daemon, and of what it depends on.
package struct DoctorReport: Codable, Hashable, Sendable {
    /// Of the daemon; null when it did not answer.
    @Nullable package var version: String?
    /// In the order in which they are shown; `muster doctor` puts its own, `daemon`, first.
    package var checks: [HealthCheck]
    /// Whether no check has failed; warnings are allowed, and what could not be looked at.
    package var isHealthy: Bool

    /// Works out `isHealthy`: true without any checks.
    ///
    /// - Parameter version: of the daemon that has looked.
    package init(version: String? = nil, checks: [HealthCheck]) {
        self.version = version
        self.checks = checks
        isHealthy = checks.allSatisfy { $0.outcome != .fail }
    }
}

/// One part of the daemon, or of what it depends on: how it is, and what to do about it.
package struct HealthCheck: Codable, Hashable, Sendable {
    /// How a part is; only `fail` lets `muster doctor` exit with 1.
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        case ok
        /// It works, but not as well as it could.
        case warn
        case fail
        /// It could not be looked at.
        case unknown
    }

    /// What was looked at: a name that stays the same, for scripts and for people. More may come.
    package struct ID: RawRepresentable, Codable, Hashable, Sendable {
        /// In lower case letters.
        package let rawValue: String

        /// Takes any text, so that a newer daemon's checks can be read.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Whether the daemon answers; `muster` looks at that itself.
        package static let daemon = ID(rawValue: "daemon")
        /// Avahi, by which laptops find each other.
        package static let discovery = ID(rawValue: "discovery")
        /// The port, and the networks that this laptop is on.
        package static let network = ID(rawValue: "network")
        /// Laptops that are known and cannot be reached.
        package static let reach = ID(rawValue: "reach")
        /// Whether the network lets this laptop find those that find it.
        package static let isolation = ID(rawValue: "isolation")
        /// Laptops and programs whose versions do not fit.
        package static let versions = ID(rawValue: "versions")
        /// This laptop's place in its fleet, and its certificate.
        package static let fleet = ID(rawValue: "fleet")
        /// Whether what is received is its author's.
        package static let signatures = ID(rawValue: "signatures")
        /// How many there are, and whether their names tell them apart.
        package static let jobs = ID(rawValue: "jobs")
        /// The time.
        package static let clock = ID(rawValue: "clock")
        /// The company's server.
        package static let server = ID(rawValue: "server")
        /// What waits for a person.
        package static let queue = ID(rawValue: "queue")
        /// Room where the store lies.
        package static let disk = ID(rawValue: "disk")
        /// The store's file.
        package static let store = ID(rawValue: "store")

        /// The port for Prometheus.
        package static let metrics = ID(rawValue: "metrics")

        /// In the order in which they are shown; docs/operations.md says what each means.
        package static let all = [
            daemon, discovery, network, reach, isolation, versions, fleet, signatures, jobs, clock, server, queue,
            disk, store, metrics,
        ]
    }

    /// What was looked at.
    package let id: ID
    /// How it is.
    package let outcome: Outcome
    /// What was found.
    package let finding: String
    /// What to do about it; null when it is well, and only then.
    @Nullable package private(set) var remedy: String?

    private init(_ id: ID, _ outcome: Outcome, _ finding: String, _ remedy: String?) {
        self.id = id
        self.outcome = outcome
        self.finding = finding
        self.remedy = remedy
    }

    /// It is well.
    package static func ok(_ id: ID, _ finding: String) -> HealthCheck { HealthCheck(id, .ok, finding, nil) }

    /// It works, but not as well as it could. Both texts are shown as `FINDING; REMEDY`: no full stop, no capital.
    package static func warn(_ id: ID, _ finding: String, remedy: String) -> HealthCheck {
        HealthCheck(id, .warn, finding, remedy)
    }

    /// It does not work.
    package static func fail(_ id: ID, _ finding: String, remedy: String) -> HealthCheck {
        HealthCheck(id, .fail, finding, remedy)
    }

    /// It could not be looked at; the remedy says how it can.
    package static func unknown(_ id: ID, _ finding: String, remedy: String) -> HealthCheck {
        HealthCheck(id, .unknown, finding, remedy)
    }
}
