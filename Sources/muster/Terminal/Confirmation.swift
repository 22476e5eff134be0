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
        let answer = try ask(meaning, "\(question) [y/N]")
        guard ["y", "yes"].contains(answer.lowercased()) else { throw Self.declined() }
    }

    /// As `confirm`, but a person has to write the name of what it happens to, or its id, of which the end is enough: for what is
    /// hardest to make good again.
    ///
    /// - Parameter meaning: says the name.
    func confirm(_ meaning: String, writingNameOf job: JobDetails) throws {
        if yes { return }
        let short = ShortIDs.one(job.id)
        let answer = try ask(meaning, "Write its name, or \(short), to go on:")
        guard [job.name, job.id, short].contains(answer) else { throw Self.declined() }
    }

    private func ask(_ meaning: String, _ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw APIError(.confirmationNeeded, "\(meaning) Add --yes if that is meant.")
        }
        let lines = [meaning, prompt].flatMap { Text.wrapped(Text.plain($0), to: Terminal.output.width) }
        StandardError.write(lines.joined(separator: "\n") + " ")
        return readLine() ?? ""
    }

    private static func declined() -> Stop {
        StandardError.say("nothing was changed.")
        return Stop(code: .different)
    }
}
