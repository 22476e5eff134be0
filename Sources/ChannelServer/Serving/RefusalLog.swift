import Logging
import ServerChannel
import Synchronization

/// Tells the server's people of who tries what nobody should: of each caller and kind at once, and then once a minute how often.
/// A stranger must not be able to fill the log.
final class RefusalLog: Sendable {
    private struct Kind: Hashable {
        let sentence: String
        let caller: String
    }

    private struct Silence {
        let end: ContinuousClock.Instant
        var refused = 0
    }

    private static let silence = Duration.seconds(60)

    private let most: Int
    private let logger: Logger
    private let silences = Mutex<[Kind: Silence]>([:])

    /// - Parameter most: so many callers and kinds are told of one by one, all others together.
    init(logger: Logger, most: Int = 1_024) {
        self.logger = logger
        self.most = most
    }

    /// - Parameter caller: the short id of a member, else the address.
    func note(_ problem: ChannelProblem, by caller: String, path: String) {
        guard let sentence = Self.sentence(of: problem.code) else { return }
        note(sentence, by: caller, ["path": "\(path)", "reason": "\(problem.detail)"])
    }

    /// Somebody has not got as far as to ask.
    ///
    /// - Parameter address: nil if the connection had none any more.
    func noteHandshake(from address: String?, reason: String) {
        note("a handshake has failed", by: address ?? "", ["reason": "\(reason)"])
    }

    private func note(_ sentence: String, by caller: String, _ details: Logger.Metadata) {
        let (own, now) = (Kind(sentence: sentence, caller: caller), ContinuousClock.now)
        let refused: Int? = silences.withLock { silences in
            // From thousands of addresses: those are told of together.
            let hasPlace = silences[own] != nil || silences.count < most
            let kind = hasPlace ? own : Kind(sentence: sentence, caller: "")
            if let known = silences[kind], known.end > now {
                silences[kind]?.refused += 1
                return nil
            }
            let before = silences[kind]?.refused ?? 0
            silences = silences.filter { $0.value.end > now }
            silences[kind] = Silence(end: now + Self.silence)
            return before + 1
        }
        guard let refused else { return }
        let counted: Logger.Metadata = ["from": "\(caller)", "times": "\(refused)"]
        logger.warning("\(sentence)", metadata: counted.merging(details) { own, _ in own })
    }

    private static func sentence(of code: ChannelProblem.Code) -> String? {
        switch code {
        case .unauthorised: "a caller is not let in"
        case .outsider: "what a device brought is refused: nobody of the fleet has signed it"
        case .forgedRequest: "what a device brought is refused: it is not a request of whom it names"
        case .malformed: "what a device brought is refused"
        case .keyReused: "a device asked for something else with a token that was used"
        default: nil
        }
    }
}
