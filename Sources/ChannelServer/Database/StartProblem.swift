import Identity
package import Systemd

/// Why a server cannot start, or a command cannot be carried out.
package struct StartProblem: IdentityFault, Sendable, CustomStringConvertible {
    /// What the program ends with.
    package let kind: SystemExit
    /// What is wrong and what to do.
    package let sentence: String

    /// The sentence.
    package var description: String { sentence }

    init(_ kind: SystemExit, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }
}
