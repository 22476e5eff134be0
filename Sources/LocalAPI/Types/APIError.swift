/// A failure that a caller of the local API can understand: what is wrong and what to do, in one sentence.
package struct APIError: Error, Hashable, Sendable {
    /// Decides the HTTP status, the title of the problem and what `muster` exits with.
    package var code: Code
    /// For people: what is wrong and what to do.
    package var message: String
    /// What an ambiguous name may have meant, or the rivals to choose from; otherwise empty.
    package var candidates: [String]
    /// The two halves of the message; nil where it was given whole, as with every answer of a daemon.
    package private(set) var parts: Parts?

    /// What is wrong and what to do, apart, as `muster doctor` shows them.
    package struct Parts: Hashable, Sendable {
        /// What is wrong, without a full stop.
        package let finding: String
        /// What to do, without a full stop.
        package let remedy: String
    }

    /// Takes one whole sentence: what is wrong and what to do.
    package init(_ code: Code, _ message: String, candidates: [String] = []) {
        self.code = code
        self.message = message
        self.candidates = candidates
    }

    /// Joins both halves to `FINDING: REMEDY.`, and keeps them in `parts`.
    package init(_ code: Code, _ finding: String, remedy: String) {
        self.init(code, "\(finding): \(remedy).")
        parts = Parts(finding: finding, remedy: remedy)
    }

    /// Codes can be added: a caller treats an unknown one by its HTTP status.
    package struct Code: RawRepresentable, Codable, Hashable, Sendable {
        /// What stands under `code` in the problem document (openapi.json).
        package let rawValue: String

        /// Takes any text, so that a newer daemon's code can be read.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request itself is malformed: a path or query that cannot be read, a body that is not the JSON asked
        /// for.
        package static let invalidRequest = Code(rawValue: "invalidRequest")
        /// The daemon has no such path with this method: most likely it has another version.
        package static let notFound = Code(rawValue: "notFound")
        /// What `after` names is not in the list, or not any more.
        package static let cursorGone = Code(rawValue: "cursorGone")
        /// The path is there, and takes other methods: the header `Allow` names them.
        package static let methodNotAllowed = Code(rawValue: "methodNotAllowed")
        /// The method is none that HTTP has, on any path.
        package static let unknownMethod = Code(rawValue: "unknownMethod")
        /// No job here has this id, prefix of an id or name.
        package static let unknownJob = Code(rawValue: "unknownJob")
        /// A name or prefix that several jobs have; `candidates` are `ID NAME`, eight at most.
        package static let ambiguousJob = Code(rawValue: "ambiguousJob")
        /// A job with the id that was asked for is here already.
        package static let jobExists = Code(rawValue: "jobExists")
        /// No item of the job has this id, prefix of an id or barcode.
        package static let unknownItem = Code(rawValue: "unknownItem")
        /// A barcode or prefix that several items have; `candidates` are their ids, eight at most.
        package static let ambiguousItem = Code(rawValue: "ambiguousItem")
        /// A change of an item whose tombstone is known (rule R2).
        package static let itemRemoved = Code(rawValue: "itemRemoved")
        /// A restore of an item that is not removed.
        package static let itemNotRemoved = Code(rawValue: "itemNotRemoved")
        /// A field that has no rival values, where one is to be chosen.
        package static let noConflict = Code(rawValue: "noConflict")
        /// A choice that is none of the rivals, or fits several.
        package static let unknownRival = Code(rawValue: "unknownRival")
        /// The field was written after its rivals were shown.
        package static let rivalsChanged = Code(rawValue: "rivalsChanged")
        /// What is written to is not any more what `If-Match` names; nothing was changed.
        package static let preconditionFailed = Code(rawValue: "preconditionFailed")
        /// The key of another request.
        package static let keyReused = Code(rawValue: "keyReused")
        /// The request with this key is being carried out.
        package static let requestUnderWay = Code(rawValue: "requestUnderWay")
        /// The request with this key was carried out, and its answer is not known any more.
        package static let answerLost = Code(rawValue: "answerLost")
        /// A value that cannot be stored: empty field name, too long, reserved.
        package static let invalidValue = Code(rawValue: "invalidValue")
        /// A value that can be stored, but is hardly what is meant, such as a quantity of -3; `candidates` are what may be. With
        /// `force=true` it is taken.
        package static let doubtfulValue = Code(rawValue: "doubtfulValue")
        /// So much would go at once that a person has to say that it is meant.
        package static let confirmationNeeded = Code(rawValue: "confirmationNeeded")
        /// A change of a job whose removal is known.
        package static let jobRemoved = Code(rawValue: "jobRemoved")
        /// A change that is not among the late work of a job, or not any more.
        package static let unknownChange = Code(rawValue: "unknownChange")
        /// An address that nobody has added here.
        package static let unknownPeer = Code(rawValue: "unknownPeer")
        /// The beginning of an id that several late changes have. Only on the client's side.
        package static let ambiguousChange = Code(rawValue: "ambiguousChange")
        /// No mutation that is known here has this token, or one that begins so.
        package static let unknownMutation = Code(rawValue: "unknownMutation")
        /// The beginning of a token that several mutations have; `candidates` are the whole tokens.
        package static let ambiguousMutation = Code(rawValue: "ambiguousMutation")
        /// What the queue cannot do with this mutation: answered, rejected or finished already, or of another device.
        package static let mutationSettled = Code(rawValue: "mutationSettled")
        /// A body over 4 MiB, over 5,000 items, or more than one change holds.
        package static let tooLarge = Code(rawValue: "tooLarge")
        /// Permission is lacking, on the socket or on a file; no route answers with it.
        package static let notPermitted = Code(rawValue: "notPermitted")
        /// Not now, but perhaps later: the disk is full, for one, or the store is busy.
        package static let unavailable = Code(rawValue: "unavailable")
        /// A fault of the daemon.
        package static let failed = Code(rawValue: "failed")
        /// Only on the client's side: nobody answers on the socket.
        package static let unreachable = Code(rawValue: "unreachable")
        /// Only on the client's side: the answer is not what this version understands.
        package static let unexpectedAnswer = Code(rawValue: "unexpectedAnswer")
    }
}

extension APIError.Code {
    /// The HTTP status (RFC 9110 section 15).
    package var status: Int {
        switch self {
        case .notFound, .unknownJob, .unknownItem, .unknownChange, .unknownMutation, .unknownRival, .unknownPeer:
            404
        case .ambiguousJob, .ambiguousItem, .ambiguousChange, .jobExists, .itemRemoved, .itemNotRemoved, .jobRemoved,
            .requestUnderWay, .answerLost, .confirmationNeeded, .ambiguousMutation, .mutationSettled, .noConflict,
            .rivalsChanged:
            409
        case .methodNotAllowed: 405
        case .cursorGone: 410
        case .preconditionFailed: 412
        case .invalidValue, .doubtfulValue, .keyReused: 422
        case .tooLarge: 413
        case .notPermitted: 403
        case .unavailable: 503
        case .failed: 500
        case .unknownMethod: 501
        default: 400
        }
    }

    /// The problem in a few words that never change (`title` of RFC 9457).
    package var title: String {
        switch self {
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .unknownMethod: "Unknown method"
        case .cursorGone: "Cursor is gone"
        case .unknownJob: "Unknown job"
        case .ambiguousJob: "Ambiguous job"
        case .jobExists: "Job exists already"
        case .unknownItem: "Unknown item"
        case .ambiguousItem: "Ambiguous item"
        case .itemRemoved: "Item is removed"
        case .itemNotRemoved: "Item is not removed"
        case .confirmationNeeded: "Confirmation needed"
        case .jobRemoved: "Job is removed"
        case .unknownChange: "Unknown change"
        case .unknownPeer: "Unknown peer"
        case .ambiguousChange: "Ambiguous change"
        case .noConflict: "No conflict"
        case .unknownRival: "Unknown rival"
        case .rivalsChanged: "Rivals have changed"
        case .preconditionFailed: "Changed meanwhile"
        case .keyReused: "Key of another request"
        case .requestUnderWay: "Request is under way"
        case .answerLost: "Answer is lost"
        case .invalidValue: "Invalid value"
        case .doubtfulValue: "Doubtful value"
        case .unknownMutation: "Unknown request"
        case .ambiguousMutation: "Ambiguous request"
        case .mutationSettled: "Request is settled"
        case .tooLarge: "Request too large"
        case .notPermitted: "Not permitted"
        case .unavailable: "Unavailable"
        case .failed: "Failure of the daemon"
        default: "Invalid request"
        }
    }
}

extension APIError: CustomStringConvertible {
    /// The message as it is, so that the error can stand in a log or a sentence.
    package var description: String { message }
}
