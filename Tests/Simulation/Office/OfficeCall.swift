import CRDT
import Outbox
import Replication

/// A laptop asks the office something.
struct OfficeCall {
    enum Request {
        case vector
        case journal(ServerSyncSession.Place)
        case upload([JournalSegment])
        /// The job has been removed.
        case end(JobRemoval)
        /// With the last ordering id that is held here.
        case deliver(MutationRequest, knownChannel: UInt64)
    }

    /// What the answer is for.
    enum Purpose: Hashable {
        case round(Int)
        case delivery(MutationToken, attempt: Int)
    }

    let device: Int
    let incarnation: Int
    let job: JobID
    let request: Request
    let purpose: Purpose
    /// Of the office when it was asked.
    let life: Int
    /// Nobody waits for an answer: the same request on another way.
    var isEcho = false
}

enum OfficeAnswer {
    case vector(VersionVector, JobRemoval?)
    case journal([JournalSegment])
    case uploaded
    case ended
    case notEnded
    case refused(ServerSyncSession.Refusal)
    case decided(Outcome, [JournalSegment])
    case predecessorMissing(MutationToken)
    case busy(milliseconds: UInt64?)
    case unreachable
    /// It may have arrived.
    case lost
}

/// What happens at the office, whoever is up among the laptops.
enum OfficeEvent {
    case call(OfficeCall)
    /// It says how far it holds the journals.
    case accept(JobID)
    /// A step of freeing what went with removed jobs.
    case free
    case start
    /// It was set back: do the laptops still know more of its words?
    case lookWhetherRecovered
}
