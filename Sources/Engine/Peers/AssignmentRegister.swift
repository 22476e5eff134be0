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
    /// - Throws: `AssignmentObstacle`, and nothing is taken then.
    func learn(_ statements: [Assignment]) async throws(AssignmentObstacle)

    /// Some laptops were revoked: where this laptop may, it says in each job that it holds how far their journals count, unless that
    /// was said before. Durable, and in force, when this returns.
    func cutOff(_ devices: Set<DeviceID>) async

    /// All that is known of the fleet that this laptop has joined; nil while it is in the same as when this was asked before.
    func rostersOfNewFleet() async -> [(job: JobID, roster: JobRoster)]?
}

/// Why words about who is on jobs are not taken; each with the whole sentence.
package enum AssignmentObstacle: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody who may has signed one of them.
    case unsigned(String)
    /// They cannot be made durable here, which is no fault of whoever has told them.
    case notKept(String)

    package var description: String {
        switch self {
        case .unsigned(let sentence), .notKept(let sentence): sentence
        }
    }
}
