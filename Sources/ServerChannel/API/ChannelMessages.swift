package import CRDT
import FoundationEssentials

/// Jobs that have changed, as the server lists them.
package struct JobChangeList: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let job: JobID
        /// The last ordering id.
        package let channel: UInt64
        /// Of the server's version vector.
        package let fingerprint: UInt64

        package init(job: JobID, channel: UInt64, fingerprint: UInt64) {
            self.job = job
            self.channel = channel
            self.fingerprint = fingerprint
        }
    }

    package let entries: [Entry]
    /// For the next request.
    package let cursor: String
    /// It begins with the first job: the cursor was none of this server's since it last started, and what was listed
    /// before says nothing any more.
    package let isFromStart: Bool

    package init(entries: [Entry], cursor: String, isFromStart: Bool) {
        self.entries = entries
        self.cursor = cursor
        self.isFromStart = isFromStart
    }
}

/// Runs of journals; of the channel with where it ends.
package struct SegmentList: Hashable, Sendable {
    package let segments: [JournalSegment]
    package let head: UInt64

    package init(segments: [JournalSegment], head: UInt64 = 0) {
        self.segments = segments
        self.head = head
    }
}

/// What a delivery was answered with.
package struct MutationDecision: Hashable, Sendable {
    package let outcome: Outcome
    /// What the sender did not hold of the channel.
    package let channel: SegmentList

    package init(outcome: Outcome, channel: SegmentList) {
        self.outcome = outcome
        self.channel = channel
    }
}

/// Bytes that are no message of the server channel.
package struct MalformedMessage: Error, Hashable, Sendable {
    /// What is wrong, for people.
    package let sentence: String
}

/// Bounds of the API, the same on both sides.
package enum ChannelLimits {
    /// Of a body, unpacked.
    package static let bodyBytes = 1 << 20
    package static let longestWaitSeconds = 60
    package static let segments = 256
    /// A removal reaches no further in a journal, so that there is room for what is said afterwards.
    package static let removedSequence: UInt64 = 1 << 39
    /// Of entries in a list.
    package static let entries = 1_000
    package static let entriesByDefault = 100
}

/// The headers and media types of the API.
package enum ChannelHeader {
    package static let received = "Muster-Received"
    package static let answered = "Muster-Answered"
    package static let idempotencyKey = "Idempotency-Key"
    package static let protobuf = "application/x-protobuf"
    package static let json = "application/json"
    /// RFC 9457 section 6.1.
    package static let problem = "application/problem+json"
}
