import Identity
package import Systemd

/// Why a server cannot start, or a command cannot be carried out.
package struct StartProblem: IdentityFault, Sendable {
    /// What the program ends with.
    package let kind: SystemExit
    /// What is wrong and what to do.
    package let sentence: String

    init(_ kind: SystemExit, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }
}
