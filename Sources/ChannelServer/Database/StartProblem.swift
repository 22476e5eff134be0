import Identity

/// Why a server cannot start, or a command cannot be carried out.
package struct StartProblem: IdentityFault, Sendable {
    /// As in sysexits.h.
    package enum Kind: Int32, Sendable {
        case usage = 64
        case badData = 65
        case unavailable = 69
        case tryAgain = 75
        case notPermitted = 77
    }

    /// What sort of problem it is; its raw value is the exit code.
    package let kind: Kind
    /// What is wrong and what to do.
    package let sentence: String

    init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }
}
