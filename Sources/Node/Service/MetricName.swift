/// Every number that is worked out when somebody asks, in the order in which it is told. What nobody knows at the moment is left out.
/// What is counted all the time is a `CounterName`.
enum MetricName: String, CaseIterable {
    case uptime = "muster_uptime_seconds"
    case links = "muster_links"
    case unreachable = "muster_addresses_unreachable"
    case behind = "muster_changes_behind"
    case ahead = "muster_changes_ahead"
    case refused = "muster_refused_runs"
    case jobs = "muster_jobs"
    case removedJobs = "muster_jobs_removed"
    case pending = "muster_requests_pending"
    case parked = "muster_requests_parked"
    case serverReached = "muster_server_reached"
    case serverAge = "muster_server_answer_age_seconds"
    case clockSynchronised = "muster_clock_synchronised"
    case clockDrift = "muster_clock_drift_seconds"
    case clockUncertainty = "muster_clock_uncertainty_seconds"
    case diskFree = "muster_disk_free_bytes"
    case storeBytes = "muster_store_bytes"
    case storeLogBytes = "muster_store_log_bytes"

    var help: String {
        switch self {
        case .uptime: "How long the daemon has run."
        case .links: "Laptops that are connected."
        case .unreachable: "Known laptops and addresses that were tried and not reached."
        case .behind: "Changes that connected laptops have yet to acknowledge."
        case .ahead: "Changes that connected laptops have announced and that are not here yet."
        case .refused: "Pieces of work that were not taken, as the doctor lists them."
        case .jobs: "Jobs that go on."
        case .removedJobs: "Jobs that have ended."
        case .pending: "Requests of this laptop that are on their way to the server."
        case .parked: "Requests of this laptop that wait for a person."
        case .serverReached: "1 when the server answered last, 0 when it did not."
        case .serverAge: "How long ago the server answered last."
        case .clockSynchronised: "1 when a server stands behind the time."
        case .clockDrift: "The laptop's clock less corrected time."
        case .clockUncertainty: "How far corrected time may be off, either way."
        case .diskFree: "Free on the disk of the store."
        case .storeBytes: "The store's file."
        case .storeLogBytes: "Its write-ahead log."
        }
    }
}
