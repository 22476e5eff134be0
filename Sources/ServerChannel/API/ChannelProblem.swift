/// What the server answers when it does not do what it was asked: an RFC 9457 problem document with extensions.
package struct ChannelProblem: Error, Codable, Hashable, Sendable {
    package let type: String
    package let title: String
    package let status: Int
    /// For people: what is wrong and what to do.
    package let detail: String
    package let code: Code
    /// The journal that it is about, 32 hexadecimal digits.
    package var replica: String?
    /// How far the server holds that journal, or surely agrees with it.
    package var sequence: UInt64?
    /// The request that is missing, 32 hexadecimal digits.
    package var token: String?

    package init(_ code: Code, _ detail: String) {
        type = "urn:muster:channel-problem:\(code.rawValue)"
        title = code.title
        status = code.status
        self.detail = detail
        self.code = code
    }

    /// Codes can be added: a laptop treats an unknown one by its status.
    package struct Code: RawRepresentable, Codable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request does not have the form that the path takes.
        package static let invalidRequest = Code(rawValue: "invalidRequest")
        package static let unauthorised = Code(rawValue: "unauthorised")
        package static let notFound = Code(rawValue: "notFound")
        package static let methodNotAllowed = Code(rawValue: "methodNotAllowed")
        package static let unknownJob = Code(rawValue: "unknownJob")
        package static let unknownRequest = Code(rawValue: "unknownRequest")
        /// The server does not reach as far as the caller: it has been set back.
        package static let channelBehind = Code(rawValue: "channelBehind")
        package static let channelUpload = Code(rawValue: "channelUpload")
        package static let journalGap = Code(rawValue: "journalGap")
        package static let journalForked = Code(rawValue: "journalForked")
        package static let predecessorMissing = Code(rawValue: "predecessorMissing")
        package static let tooLarge = Code(rawValue: "tooLarge")
        package static let mediaType = Code(rawValue: "mediaType")
        /// The form is right, but what it carries cannot be read: a run of journal, a message.
        package static let malformed = Code(rawValue: "malformed")
        package static let keyReused = Code(rawValue: "keyReused")
        package static let unknownKind = Code(rawValue: "unknownKind")
        package static let limited = Code(rawValue: "limited")
        package static let unavailable = Code(rawValue: "unavailable")
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
        case .keyReused, .malformed, .unknownKind: 422
        case .limited: 429
        case .unavailable: 503
        case .failed: 500
        default: 400
        }
    }

    /// In a few words that never change.
    package var title: String {
        switch self {
        case .unauthorised: "No valid token"
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
        case .keyReused: "Key used for another request"
        case .unknownKind: "Unknown kind of mutation"
        case .limited: "Too much at once"
        case .unavailable: "Unavailable"
        case .failed: "Failure of the server"
        default: "Invalid request"
        }
    }
}
