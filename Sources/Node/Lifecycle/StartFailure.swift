import LocalAPI
import Storage

/// Why a daemon could not run, for people and for scripts.
package struct StartFailure: Sendable {
    /// What is wrong and what to do.
    package let sentence: String
    /// As in sysexits.h.
    package let exitCode: Int32

    /// Chooses the exit code: 64 for settings, 65 for a store that is newer, of a former design, another role's or damaged, 77 for one that
    /// cannot be written, 75 for what may pass, 70 for anything else.
    package init(_ error: any Error) {
        switch error {
        case let error as ConfigurationError:
            sentence = error.description
            exitCode = 64
        case let error as StoreError:
            sentence = error.explanation
            exitCode =
                switch error.code {
                case .newerThanProgram, .olderThanProgram, .otherRole, .damaged: 65
                case .readOnly: 77
                default: 75
                }
        case let error as APIError:
            sentence = error.message
            exitCode =
                switch error.code {
                case .invalidValue: 64
                case .notPermitted: 77
                default: 75
                }
        default:
            sentence = "It failed: \(error)"
            exitCode = 70
        }
    }
}
