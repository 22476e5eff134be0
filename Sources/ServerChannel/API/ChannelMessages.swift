package import CRDT
import FoundationEssentials
import Outbox

/// Jobs that have changed, as the server lists them.
package struct JobChangeList: Hashable, Sendable {
    /// A job in which a journal has changed, the channel among them.
    package struct Entry: Hashable, Sendable {
        /// Each job is listed once, at the place of its last change.
        package let job: JobID
        /// The last ordering id; 0 as long as the server has said nothing in the job.
        package let channel: UInt64
        /// Of the server's version vector: `VersionVector.fingerprint`.
        package let fingerprint: UInt64
        /// One number for all that was said of who is on the job: `JobRoster.fingerprint`.
        package let assignments: UInt64
        /// The laptop that asks was taken off the job: nothing else is said of it.
        package let isOwnOnly: Bool

        /// `channel` and `fingerprint` are of one state of the job.
        package init(job: JobID, channel: UInt64, fingerprint: UInt64, assignments: UInt64 = 0, isOwnOnly: Bool = false)
        {
            self.assignments = assignments
            self.isOwnOnly = isOwnOnly
            self.job = job
            self.channel = channel
            self.fingerprint = fingerprint
        }
    }

    /// In the order of their last change, `ChannelLimits.entries` at most; fewer than were asked for end the list.
    package let entries: [Entry]
    /// For the next request, whose list begins after the last entry of this one; 64 characters at most.
    package let cursor: String
    /// It begins with the first job: the cursor was none of this server's since it last started, and what was listed
    /// before says nothing any more.
    package let isFromStart: Bool

    /// A `cursor` holds only for the server that gave it, and until that is started again.
    package init(entries: [Entry], cursor: String, isFromStart: Bool) {
        self.entries = entries
        self.cursor = cursor
        self.isFromStart = isFromStart
    }
}

/// Runs of journals; of the channel with where it ends.
package struct SegmentList: Hashable, Sendable {
    /// Of one journal in an answer; up to `ChannelLimits.segments`, of any journals, in an upload.
    package let segments: [JournalSegment]
    /// The last ordering id of the channel; 0 where the runs are of other journals.
    package let head: UInt64

    /// `head` is given with runs of the channel only.
    package init(segments: [JournalSegment], head: UInt64 = 0) {
        self.segments = segments
        self.head = head
    }
}

/// What requests were answered with that were delivered together.
package struct MutationDecisions: Hashable, Sendable {
    /// Of the first of them, in their order; the same for every delivery of one token. Those behind were not looked at.
    package let outcomes: [Outcome]
    /// What the sender did not hold of the channels of their jobs, each job once.
    package let channels: [ChannelNews]

    /// What follows in the channel of one job.
    package struct ChannelNews: Hashable, Sendable {
        /// Whose channel it is.
        package let job: JobID
        /// Its runs and where it ends.
        package let news: SegmentList

        /// Takes both as they are.
        package init(job: JobID, news: SegmentList) {
            self.job = job
            self.news = news
        }
    }

    /// `outcomes` has to begin with that of the first request that was delivered; else the answer counts as lost.
    package init(outcomes: [Outcome], channels: [ChannelNews]) {
        self.outcomes = outcomes
        self.channels = channels
    }
}

/// Bytes that are no message of the server channel.
package struct MalformedMessage: Error, Hashable, Sendable {
    /// What is wrong, for people.
    package let sentence: String
}

/// Bounds of the API, the same on both sides.
package enum ChannelLimits {
    /// Of a request's body, packed and unpacked.
    package static let bodyBytes = 1 << 20
    /// Of a removal's: as JSON its 8,192 journals, each with a digest of 64 digits, take 1.2 MB.
    package static let removalBytes = 2 << 20
    /// How long a request for news may be left open (`wait`).
    package static let longestWaitSeconds = 60
    /// Runs in one upload.
    package static let segments = 256
    /// Mutations in one delivery: as many as an outbox puts into one exchange.
    package static let mutations = OutboxLimits().inExchange
    /// Revocations in one message: of `Revocation.mostBytes` each, they fit into a body.
    package static let revocations = 128
    /// Statements of who is on jobs in one message: of 17 KiB at most each, in base 64, they fit into a body.
    package static let assignments = 32
    /// A removal reaches no further in a journal, so that there is room for what is said afterwards.
    package static let removedSequence: UInt64 = 1 << 39
    /// The most entries of a list that may be asked for (`limit`).
    package static let entries = 1_000
    /// Entries of a list when no `limit` is given.
    package static let entriesByDefault = 100
}

/// The headers and media types of the API.
package enum ChannelHeader {
    /// When the request came: microseconds since 1970, in every answer of a Muster server.
    package static let received = "Muster-Received"
    /// When the answer went out: microseconds since 1970, in every answer of a Muster server.
    package static let answered = "Muster-Answered"
    /// The certificates that a caller shows behind its first one (its issuer's), each in base 64 of DER, with commas between them, in
    /// every request of a laptop: a proxy passes on the first only.
    package static let issuer = "Muster-Issuer"
    /// One number for all revocations that the server knows of, 16 hexadecimal digits, in every answer to a member of its fleet.
    package static let revocations = "Muster-Revocations"
    /// The messages of channel.proto, which daemons ask for and send.
    package static let protobuf = "application/x-protobuf"
    /// What people and other programs ask for and send; what is answered where `Accept` has no protobuf.
    package static let json = "application/json"
    /// RFC 9457 section 6.1.
    package static let problem = "application/problem+json"
}
