import Logging
import ServerChannel
import Synchronization

/// Tells the server's people of who tries what nobody should: of each caller and kind at once, and then once a minute how often.
/// A stranger must not be able to fill the log.
final class RefusalLog: Sendable {
    private struct Kind: Hashable {
        let code: ChannelProblem.Code
        let caller: String
    }

    private struct Silence {
        let end: ContinuousClock.Instant
        var refused = 0
    }

    private static let silence = Duration.seconds(60)
    private static let most = 1_024

    private let logger: Logger
    private let silences = Mutex<[Kind: Silence]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    /// - Parameter caller: the short id of a member, else the address.
    func note(_ problem: ChannelProblem, by caller: String, path: String) {
        guard let sentence = Self.sentence(of: problem.code) else { return }
        let (own, now) = (Kind(code: problem.code, caller: caller), ContinuousClock.now)
        let refused: Int? = silences.withLock { silences in
            // From thousands of addresses: those are told of together.
            let hasPlace = silences[own] != nil || silences.count < Self.most
            let kind = hasPlace ? own : Kind(code: problem.code, caller: "")
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
        logger.warning(
            "\(sentence)",
            metadata: ["from": "\(caller)", "path": "\(path)", "times": "\(refused)", "reason": "\(problem.detail)"])
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
