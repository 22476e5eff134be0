/// What the server answers when it does not do what it was asked: an RFC 9457 problem document with extensions.
package struct ChannelProblem: Error, Codable, Hashable, Sendable {
    /// `urn:muster:channel-problem:CODE`: a name, not a page.
    package let type: String
    /// The same few words for every problem of one code.
    package let title: String
    /// The answer's HTTP status once more.
    package let status: Int
    /// For people: what is wrong and what to do.
    package let detail: String
    /// What a laptop goes by; one that it does not know counts by its status.
    package let code: Code
    /// The journal that it is about, 32 hexadecimal digits.
    package var replica: String?
    /// How far the server holds that journal, or surely agrees with it; of the channel with `channelBehind`.
    package var sequence: UInt64?
    /// The request that is missing, 32 hexadecimal digits.
    package var token: String?

    /// Leaves `replica`, `sequence` and `token` nil: whoever knows them sets them.
    package init(_ code: Code, _ detail: String) {
        type = "urn:muster:channel-problem:\(code.rawValue)"
        title = code.title
        status = code.status
        self.detail = detail
        self.code = code
    }

    /// Codes can be added: a laptop treats an unknown one by its status.
    package struct Code: RawRepresentable, Codable, Hashable, Sendable {
        /// What stands under `code` in the problem document (openapi.json of ChannelServer).
        package let rawValue: String

        /// Takes any text, so that a newer server's code can be read.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request does not have the form that the path takes.
        package static let invalidRequest = Code(rawValue: "invalidRequest")
        /// No certificate of the fleet was shown, or one that does not hold.
        package static let unauthorised = Code(rawValue: "unauthorised")
        /// The server has no such path.
        package static let notFound = Code(rawValue: "notFound")
        /// The path takes other methods, which the header Allow names.
        package static let methodNotAllowed = Code(rawValue: "methodNotAllowed")
        /// The server holds nothing of the job.
        package static let unknownJob = Code(rawValue: "unknownJob")
        /// The server has not decided a request of that token.
        package static let unknownRequest = Code(rawValue: "unknownRequest")
        /// The server does not reach as far as the caller: it has been set back.
        package static let channelBehind = Code(rawValue: "channelBehind")
        /// A run of the channel in an upload, while the server does not recover from a backup.
        package static let channelUpload = Code(rawValue: "channelUpload")
        /// A run begins after what the server holds of the journal, which `sequence` tells.
        package static let journalGap = Code(rawValue: "journalGap")
        /// A run does not continue what the server holds; `sequence` is up to where both agree, if that is known.
        package static let journalForked = Code(rawValue: "journalForked")
        /// The request before this one in its lane has no outcome yet; `token` names it.
        package static let predecessorMissing = Code(rawValue: "predecessorMissing")
        /// A body over `ChannelLimits.bodyBytes`, more runs than `ChannelLimits.segments`, or more mutations than it takes.
        package static let tooLarge = Code(rawValue: "tooLarge")
        /// The body is neither JSON nor protobuf, or is packed in another way than gzip.
        package static let mediaType = Code(rawValue: "mediaType")
        /// The form is right, but what it carries cannot be read: a run of journal, a message.
        package static let malformed = Code(rawValue: "malformed")
        /// A run, or a request, whose author nobody of the server's fleet has let in.
        package static let outsider = Code(rawValue: "outsider")
        /// A request that its author has not signed, or under a token of somebody else.
        package static let forgedRequest = Code(rawValue: "forgedRequest")
        /// The token was used for another request.
        package static let keyReused = Code(rawValue: "keyReused")
        /// Nothing was decided: a newer server may know this kind of mutation.
        package static let unknownKind = Code(rawValue: "unknownKind")
        /// The device has too many requests open at once; Retry-After says 1 second.
        package static let limited = Code(rawValue: "limited")
        /// Not now: busy, stopping, unable to store, or recovering from a backup; Retry-After says 5 seconds.
        package static let unavailable = Code(rawValue: "unavailable")
        /// A fault of the server, which its log tells of.
        package static let failed = Code(rawValue: "failed")
    }
}

extension ChannelProblem.Code {
    /// RFC 9110 section 15; 429 is RFC 6585's.
    package var status: Int {
        switch self {
        case .unauthorised: 401
        case .notFound, .unknownJob, .unknownRequest: 404
        case .methodNotAllowed: 405
        case .channelBehind, .channelUpload, .journalGap, .journalForked, .predecessorMissing: 409
        case .tooLarge: 413
        case .mediaType: 415
        case .forgedRequest, .keyReused, .malformed, .outsider, .unknownKind: 422
        case .limited: 429
        case .unavailable: 503
        case .failed: 500
        default: 400
        }
    }

    /// In a few words that never change.
    package var title: String {
        switch self {
        case .unauthorised: "Not let in"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .unknownJob: "Unknown job"
        case .unknownRequest: "Unknown request"
        case .channelBehind: "Server is behind"
        case .channelUpload: "The channel is the server's"
        case .journalGap: "Gap in a journal"
        case .journalForked: "Forked journal"
        case .predecessorMissing: "Predecessor missing"
        case .tooLarge: "Request too large"
        case .mediaType: "Unsupported media type"
        case .malformed: "Malformed content"
        case .outsider: "Nobody of the fleet"
        case .forgedRequest: "Not its author's request"
        case .keyReused: "Key used for another request"
        case .unknownKind: "Unknown kind of mutation"
        case .limited: "Too much at once"
        case .unavailable: "Unavailable"
        case .failed: "Failure of the server"
        default: "Invalid request"
        }
    }
}
