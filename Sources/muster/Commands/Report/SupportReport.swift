import HTTPCoding
import LocalAPI

/// What a person attaches to a complaint.
///
/// What the customer's data may be in is not taken out: each part names what goes in, so that a field that is added elsewhere stays
/// out until somebody has thought of it here.
struct SupportReport: Encodable {
    let madeAt: Timestamp
    let versions: Versions
    let doctor: Doctor
    var settings: [Diagnostics.Setting]?
    var status: State?
    var peers: [PeerStatus]?
    var clock: Clock?
    var queue: [Request]?
    var queueLog: [Attempt]?
    var store: Diagnostics.StoreSize?
    var events: [Event]?
    /// What could not be had, and why.
    var missing: [String] = []
    /// Only where a person has asked for it.
    var customerData: CustomerData?

    struct Versions: Encodable {
        let muster: String
        let musterd: String?
        let system: String?
        let kernel: String?
    }

    struct Doctor: Encodable {
        let isHealthy: Bool
        let checks: [Check]

        init(_ report: DoctorReport) {
            isHealthy = report.isHealthy
            checks = report.checks.map(Check.init)
        }
    }

    struct Check: Encodable {
        let id: String
        let outcome: HealthCheck.Outcome
        /// Null where names of jobs may be in it.
        let finding: String?
        let remedy: String?

        /// Whose findings speak of machines, files and networks alone.
        private static let ofMachines: Set<HealthCheck.ID> = [
            .daemon, .discovery, .network, .reach, .isolation, .versions, .fleet, .signatures, .server, .disk, .store,
            .metrics,
        ]

        init(_ check: HealthCheck) {
            let isOfMachines = Self.ofMachines.contains(check.id)
            id = check.id.rawValue
            outcome = check.outcome
            finding = isOfMachines ? check.finding : nil
            remedy = isOfMachines ? check.remedy : nil
        }
    }

    struct State: Encodable {
        let deviceID: String
        let replicaID: String
        let name: String
        let startedAt: Timestamp
        let discovery: DiscoveryStatus
        let sync: SyncState
        let jobs: Int
        let removedJobs: Int
        let server: ServerContact?
        let requestsPending: Int
        let requestsPaused: Int
        let requestsRejected: Int
        let isPaused: Bool
        let pausedJobs: [String]

        init(_ status: Status) {
            deviceID = status.deviceID
            replicaID = status.replicaID
            name = status.name
            startedAt = status.startedAt
            discovery = status.discovery
            sync = status.sync
            jobs = status.jobs
            removedJobs = status.removedJobs
            server = status.server
            requestsPending = status.queue.pending
            requestsPaused = status.queue.paused
            requestsRejected = status.queue.rejected
            isPaused = status.queue.isPaused
            pausedJobs = status.queue.pausedJobs.map(\.job)
        }
    }

    struct Clock: Encodable {
        let source: ClockStatus.Source
        let isSynchronised: Bool
        let isShared: Bool
        let stratum: Int?
        let driftMilliseconds: Double?
        let uncertaintyMilliseconds: Double?
        let ageSeconds: Double?
        let time: Timestamp
        let future: [Future]

        struct Future: Encodable {
            let job: String
            let by: String
            let changes: Int
            let latest: Timestamp
        }

        init(_ clock: ClockReport) {
            source = clock.source
            isSynchronised = clock.isSynchronised
            isShared = clock.isShared
            stratum = clock.stratum
            driftMilliseconds = clock.driftMilliseconds
            uncertaintyMilliseconds = clock.uncertaintyMilliseconds
            ageSeconds = clock.ageSeconds
            time = clock.time
            future = clock.future.map { Future(job: $0.job, by: $0.by, changes: $0.changes, latest: $0.latest) }
        }
    }

    struct Request: Encodable {
        let token: String
        let job: String
        let priority: Int
        let isOwn: Bool
        let state: QueueEntry.State
        let attempts: Int
        let nextAttemptAt: Timestamp?
        let createdAt: Timestamp
        let decidedAt: Timestamp?

        init(_ entry: QueueEntry) {
            token = entry.token
            job = entry.job
            priority = entry.priority
            isOwn = entry.isOwn
            state = entry.state
            attempts = entry.attempts
            nextAttemptAt = entry.nextAttemptAt
            createdAt = entry.createdAt
            decidedAt = entry.decidedAt
        }
    }

    struct Attempt: Encodable {
        let token: String
        let job: String?
        let attempt: Int
        let at: Timestamp
        let durationMilliseconds: Int
        let outcome: String
        let status: Int?
        let nextAttemptAt: Timestamp?

        init(_ attempt: QueueAttempt) {
            token = attempt.token
            job = attempt.job
            self.attempt = attempt.attempt
            at = attempt.at
            durationMilliseconds = attempt.durationMilliseconds
            outcome = attempt.outcome
            status = attempt.status
            nextAttemptAt = attempt.nextAttemptAt
        }
    }

    struct Event: Encodable {
        let at: Timestamp
        let level: String
        let event: String
        let details: [String: String]

        /// Ids, addresses, numbers and names of machines. A reason, an error, a path or a query may repeat what people wrote.
        private static let allowed: Set<String> = [
            "address", "addresses", "delay", "device", "devices", "failures", "from", "host", "instance", "interval",
            "job", "laptops", "link", "milliseconds", "outcome", "port", "reissued", "remote", "replica", "requests",
            "role", "server", "socket", "source", "status", "stepMilliseconds", "times", "token",
        ]

        init(_ line: Diagnostics.LoggedEvent) {
            at = line.at
            level = line.level
            event = line.event
            details = line.details.filter { Self.allowed.contains($0.key) }
        }
    }

    struct Job: Encodable, Sendable {
        let job: JobListEntry
        let items: [ItemView]
    }

    struct CustomerData: Encodable {
        let doctor: DoctorReport
        var status: Status?
        var clock: ClockReport?
        var queue: [QueueEntry]?
        var queueLog: [QueueAttempt]?
        var events: [Diagnostics.LoggedEvent]?
        var crew: CrewReport?
        var jobs: [Job]?
    }

    /// The name of an invitation is part of its code, which is nobody's to pass on.
    static func withoutSecrets(_ line: Diagnostics.LoggedEvent) -> Diagnostics.LoggedEvent {
        var line = line
        line.details["invitation"] = nil
        return line
    }
}
