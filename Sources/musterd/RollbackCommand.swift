import ArgumentParser
import Node
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// What `muster store rollback` hands over to: the command does not carry a database.
struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Put the store of before the last upgrade back; the daemon is stopped.",
        discussion: """
            'muster store rollback' does the same. It says what was written since, and asks. The newer store is kept \
            beside the other one.

            Example: musterd rollback --state-dir /var/lib/muster
            """)

    @OptionGroup var place: PlaceOptions

    @Flag(help: "Do it without asking; scripts have to say so.")
    var yes = false

    @Flag(help: "Print one JSON document for scripts.")
    var json = false

    func run() async throws {
        try await Start.orOneSentence {
            let configuration = try await NodeConfiguration.read(
                flags: place.stateDir.map { [.stateDirectory: [$0]] } ?? [:], environment: ProgramStart.environment,
                file: place.config, isRoot: geteuid() == 0)
            let rollback = try Rollback(configuration)
            say(rollback.meaning, to: STDERR_FILENO)
            if !yes {
                guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                    throw RollbackNotConfirmed.nobodyThere
                }
                say("Go back? [y/N] ", to: STDERR_FILENO)
                guard ["y", "yes"].contains((readLine() ?? "").lowercased()) else {
                    throw RollbackNotConfirmed.declined
                }
            }
            let report = try rollback.perform()
            say(json ? try report.json() : report.text, to: STDOUT_FILENO)
        }
    }

    private func say(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
