import LocalAPI
import Storage
package import Systemd

/// Why a daemon could not run, for people and for scripts.
package struct StartFailure: Sendable {
    /// What is wrong and what to do.
    package let sentence: String
    /// What the program ends with.
    package let exit: SystemExit

    /// Chooses the exit code: 64 for settings, 65 for a store that is newer, of a former design, another role's or damaged and for a
    /// copy that is not there, 77 for one that cannot be written, 75 for what may pass, 70 for anything else.
    package init(_ error: any Error) {
        switch error {
        case let error as ConfigurationError:
            sentence = error.description
            exit = .usage
        case let error as StateDirectory.Fault:
            sentence = error.sentence
            exit = error.exit
        case let error as EnvironmentFile.Fault:
            sentence = error.description
            exit = .usage
        case let error as RestartFault:
            sentence = error.description
            exit = .tryAgain
        case let error as StoreError:
            sentence = error.explanation
            exit =
                switch error.code {
                case .newerThanProgram, .olderThanProgram, .otherRole, .damaged, .noSnapshot: .badData
                case .readOnly: .notPermitted
                default: .tryAgain
                }
        case let error as APIError:
            sentence = error.message
            exit =
                switch error.code {
                case .invalidValue: .usage
                case .notPermitted: .notPermitted
                default: .tryAgain
                }
        case let error as RollbackNotConfirmed:
            switch error {
            case .nobodyThere: (sentence, exit) = ("Nothing was changed; add --yes if that is meant.", .usage)
            case .declined: (sentence, exit) = ("Nothing was changed.", .different)
            }
        default:
            sentence = "It failed: \(error)"
            exit = .software
        }
    }
}
