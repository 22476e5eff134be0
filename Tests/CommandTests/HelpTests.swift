import Testing

/// The help of every command, as people see it.
@Suite(.timeLimit(.minutes(2)))
struct HelpTests {
    static let commands: [[String]] = [
        [], ["status"], ["session"], ["session", "start"], ["session", "end"], ["session", "show"],
        ["session", "list"], ["doctor"], ["report"], ["metrics"], ["carry"], ["carry", "out"], ["carry", "in"],
        ["peers"],
        ["peers", "list"],
        ["peers", "add"], ["peers", "remove"],
        ["peers", "address"], ["clock"], ["job"], ["job", "create"], ["job", "list"],
        ["job", "show"], ["job", "rename"],
        ["job", "advance"], ["job", "sign-off"], ["job", "watch"],
        ["job", "log"], ["job", "summary"], ["job", "conflicts"], ["job", "check"], ["job", "export"],
        ["job", "audit"], ["job", "archive"],
        ["job", "assign"], ["job", "unassign"], ["job", "roster"], ["job", "late"], ["job", "remove"], ["item"],
        ["item", "add"], ["item", "set"], ["item", "note"], ["item", "remove"], ["item", "restore"], ["item", "list"],
        ["item", "show"], ["catalogue"],
        ["import"], ["queue"], ["queue", "list"], ["queue", "show"], ["queue", "retry"],
        ["queue", "drop"],
        ["queue", "pause"], ["queue", "resume"], ["queue", "log"], ["fleet"], ["fleet", "init"], ["fleet", "invite"],
        ["fleet", "join"],
        ["fleet", "list"], ["fleet", "show"], ["fleet", "revoke"],
        ["fleet", "request"], ["fleet", "sign"], ["fleet", "install"], ["fleet", "recover"], ["fleet", "leave"],
        ["backup"], ["restore"], ["store"], ["store", "rollback"], ["completions"],
    ]

    @Test("Every command explains itself, with an example, within 80 columns", arguments: commands)
    func help(command: [String]) async throws {
        let outcome = try await MusterProcess.run(command + ["--help"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.contains("Example"))
        #expect(outcome.output.contains("  muster "))
        for line in outcome.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        // An example that goes on in another line is copied without its end.
        for example in outcome.output.split(separator: "\n\n") where example.hasPrefix("Example") {
            for line in example.split(separator: "\n").dropFirst() {
                #expect(line.hasPrefix("  ") || line.hasPrefix("Example"), "\(line)")
            }
        }
        try expectSnapshot(outcome.output, "help" + command.map { "-" + $0 }.joined())
    }

    @Test("Every leaf command takes --json and --socket", arguments: commands.filter { $0.count == 2 })
    func globalOptions(command: [String]) async throws {
        let outcome = try await MusterProcess.run(command + ["--help"])
        #expect(outcome.output.contains("--json"))
        #expect(outcome.output.contains("--socket <path>"))
    }

    @Test("A completion script is printed for each shell", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let outcome = try await MusterProcess.run(["completions", shell])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.contains("conflicts"))
    }
}
