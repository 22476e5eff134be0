import ArgumentParser
import Glibc
import LocalAPI
import Systemd

/// `--yes`, and what is asked without it.
struct ConfirmationOption: ParsableArguments {
    @Flag(name: .long, help: "Do it without asking; scripts have to say so.")
    var yes = false

    /// Returns when a person has agreed, by `--yes` or at the terminal; else ends the program.
    ///
    /// - Parameter meaning: what is about to happen, in whole sentences.
    func confirm(_ meaning: String, _ question: String) throws {
        if yes { return }
        let answer = try ask(meaning, "\(question) [y/N] ")
        guard ["y", "yes"].contains(answer.lowercased()) else { throw Self.declined() }
    }

    /// As `confirm`, but a person has to write a word: for what is hardest to make good again.
    func confirm(_ meaning: String, writing word: String) throws {
        if yes { return }
        let answer = try ask(meaning, "Write \"\(Text.plain(word))\" to go on: ")
        guard answer == word else { throw Self.declined() }
    }

    private func ask(_ meaning: String, _ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw APIError(.confirmationNeeded, "\(meaning) Add --yes if that is meant.")
        }
        let lines = Text.wrapped(Text.plain(meaning), to: Terminal.output.width)
        StandardError.write(lines.map { $0 + "\n" }.joined() + prompt)
        return readLine() ?? ""
    }

    private static func declined() -> Stop {
        StandardError.say("nothing was changed.")
        return Stop(code: .different)
    }
}
