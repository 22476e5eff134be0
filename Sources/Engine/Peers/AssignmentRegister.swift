package import CRDT

/// Who is on which job, and what others may be told of jobs; the daemon keeps it.
package protocol AssignmentRegister: Sendable {
    /// All that is known of this laptop's fleet.
    var rosters: [(job: JobID, roster: JobRoster)] { get }

    /// Who is on one job.
    func roster(of job: JobID) -> JobRoster

    /// What a laptop that was let in may be told of jobs.
    func access(of device: DeviceID) -> JobAccess

    /// Whether this laptop itself may be told of a job, as far as it knows.
    func receives(_ job: JobID) -> Bool

    /// Looks at what somebody has sent, and keeps what is signed by those who may say so: durable, and in force, when this returns.
    ///
    func learn(_ statements: [Assignment]) async throws(AssignmentFailure)

    /// Some laptops were revoked: where this laptop may, it says in each job that it holds how far their journals count, unless that
    /// was said before. Durable, and in force, when this returns.
    func cutOff(_ devices: Set<DeviceID>) async

    /// All that is known of the fleet that this laptop has joined; nil while it is in the same as when this was asked before.
    func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]?
}

/// Why what somebody has said of who is on a job is not in force here.
package enum AssignmentFailure: Error, Hashable, Sendable {
    /// Nobody who may has signed one of the statements: a whole sentence.
    case refused(String)
    /// This laptop could not make them durable; whoever sent them has done nothing wrong.
    case notKept

    /// The whole sentence.
    var sentence: String {
        switch self {
        case .refused(let reason): reason
        case .notKept: "This laptop cannot keep who is on a job."
        }
    }
}
