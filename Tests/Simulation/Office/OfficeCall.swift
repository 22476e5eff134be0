import CRDT
import Outbox
import Replication
import Storage

/// A laptop asks the office something.
struct OfficeCall {
    enum Request {
        case vector
        case journal(ServerSyncSession.Place)
        case upload([JournalSegment])
        /// The job has been removed.
        case end(JobRemoval)
        /// Of any jobs, in this order.
        case deliver([DeliveredRequest])
    }

    /// What the answer is for.
    enum Purpose: Hashable {
        case round(Int)
        case delivery(OutboxMachine.ExchangeNumber)
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
    /// The first of them, with what followed in the channels of their jobs.
    case decided([(outcome: Outcome, job: JobID)], [(segment: JournalSegment, job: JobID)])
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
