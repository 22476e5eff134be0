import CRDT
import Replication

/// Why bytes are no message, or a message cannot become bytes. Each closes the connection that it came from.
package enum WireFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A frame's length, in bytes, is over what it may be at this point of the conversation.
    case oversizedFrame(bytes: Int, limit: Int)
    /// The connection ended inside a frame; so many bytes of it had come.
    case truncatedFrame(bytes: Int)
    /// The payload is not the protobuf that it should be.
    case malformedPayload
    /// The frame holds no message of a kind that this version knows.
    case unknownMessage
    case helloMissing
    case helloRepeated
    case versions(minimum: UInt32, maximum: UInt32)
    case identifierLength(Field, bytes: Int)
    case jobName
    case textTooLong(Field, bytes: Int)
    case controlCharacter(Field)
    /// Columns of one list differ in length.
    case unevenColumns(Field)
    case tooManyEntries(Field, count: Int)
    /// Neither more nor fewer than three make a laptop a member.
    case certificateCount(Int)
    /// Jobs are compared in another number of buckets.
    case bucketCount(Int)
    case bucketNumber(UInt32)
    /// The numbers of buckets do not ascend.
    case unsortedBuckets
    /// The entries of a vector do not ascend by replica.
    case unsortedVector
    /// A sequence is 0; the first is 1.
    case sequenceZero(Field)
    /// A sequence is over `ProtocolLimits.sequence`.
    case sequenceTooLarge(Field)
    /// A piece of a journal ends before it begins.
    case backwardsSegment(first: UInt64, last: UInt64)
    case emptySegment
    /// A compressed piece of a journal is longer than any may be; so many bytes it says it has.
    case oversizedRun(bytes: UInt64)
    /// A compressed piece of a journal is not one whole frame that gives what it says.
    case malformedCompression
    /// A clock claims a stratum or an uncertainty that there is not.
    case clockQuality
    /// What is said of who is on a job cannot be read.
    case malformedAssignment
    /// A change ends before the sequence that it should contain.
    case boundaryTooEarly(boundary: UInt64, sequence: UInt64)

    /// The part of a message that is wrong.
    package enum Field: String, Hashable, Sendable {
        case device, replica, name, reason, jobs, buckets, entries, from, first, last, sequence, digest
        case invitation, role, proof, revocations, assignments, signature, author
    }

    /// One sentence: what is wrong.
    package var description: String {
        switch self {
        case .oversizedFrame(let bytes, let limit):
            "a frame of \(bytes) bytes is over the limit of \(limit); is it Muster that speaks there?"
        case .truncatedFrame(let bytes): "the connection ended inside a frame, after \(bytes) bytes of it"
        case .malformedPayload: "a frame is not the protobuf that it should be; is it Muster that speaks there?"
        case .unknownMessage: "a frame holds a message of a kind that this version does not know; update Muster"
        case .helloMissing: "the first frame is no hello; is it Muster that speaks there?"
        case .helloRepeated: "a second hello came on one connection"
        case .versions(let minimum, let maximum):
            "a hello offers the protocol versions \(minimum) to \(maximum), which is no range from 1 on"
        case .identifierLength(let field, let bytes): "the \(field.rawValue) has a wrong length (\(bytes) bytes)"
        case .jobName: "a job id is not 1 to \(JobID.longest) of A–Z a–z 0–9 . _ -, the first no dot"
        case .textTooLong(let field, let bytes): "the \(field.rawValue) is too long (\(bytes) bytes)"
        case .controlCharacter(let field): "the \(field.rawValue) contains control characters"
        case .unevenColumns(let field): "the columns of \(field.rawValue) differ in length"
        case .tooManyEntries(let field, let count): "a message lists too many \(field.rawValue) (\(count))"
        case .certificateCount(let count): "\(count) certificates came instead of three"
        case .bucketCount(let count): "jobs are compared in \(count) buckets instead of \(ProtocolLimits.jobBuckets)"
        case .bucketNumber(let number): "there is no bucket \(number) of jobs"
        case .unsortedBuckets: "the numbers of the buckets of jobs do not ascend"
        case .unsortedVector: "the entries of a vector do not ascend by replica"
        case .sequenceZero(let field): "the sequence “\(field.rawValue)” is 0, but the first transform is number 1"
        case .sequenceTooLarge(let field): "the sequence “\(field.rawValue)” is larger than any journal is long"
        case .backwardsSegment(let first, let last): "a piece of a journal goes from \(first) back to \(last)"
        case .malformedAssignment: "what is said of who is on a job cannot be read"
        case .clockQuality: "a pong claims a quality of the clock that there is not"
        case .emptySegment: "a piece of a journal is empty"
        case .oversizedRun(let bytes):
            "a compressed piece of a journal has \(bytes) bytes, more than the limit of \(ProtocolLimits.compressedRunBytes)"
        case .malformedCompression: "a compressed piece of a journal cannot be read"
        case .boundaryTooEarly(let boundary, let sequence):
            "a change that should contain \(sequence) ends at \(boundary) already"
        }
    }
}
