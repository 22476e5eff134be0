import ArgumentParser
import LocalAPI

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script for a shell.",
        discussion: "Example:\n  muster completions bash > ~/.local/share/bash-completion/completions/muster")

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw ValidationError("There is no completion script for \"\(shell)\": ask for bash, zsh or fish.")
        }
        StandardOutput.write(Muster.completionScript(for: shell) + "\n" + (shell == .bash ? BashScript.amendment : ""))
    }
}
