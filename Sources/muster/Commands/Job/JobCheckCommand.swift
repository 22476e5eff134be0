import ArgumentParser
import LocalAPI

struct JobCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare this device's copy of a job with that of every connected device.",
        discussion: """
            Exits with 1 when a copy differs, and names what is missing where.

            Example:
              muster job check "Smith, 12 Elm Street" && echo "all the same"
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let check = try await options.withClient { try await $0.check(job: job.reference) }
        if options.json { try StandardOutput.json(check) } else { show(check, on: .output) }
        if !check.isSame { throw Stop(code: .different) }
    }

    private func show(_ check: JobCheck, on terminal: Terminal) {
        let style = terminal.style
        var lines = ["Digest here: \(check.digest)"]
        if check.comparison == .notConnected {
            lines.append("No device is connected: there is nothing to compare with.")
        }
        for device in check.devices {
            let name = device.name.map(Text.plain) ?? ShortIDs.random(device.deviceID)
            switch device.outcome {
            case .same: lines.append("\(style.green("same")) on \(name)")
            case .different: lines.append("\(style.red("different")) on \(name)")
            case .absent: lines.append("\(style.red("absent")) on \(name): it does not hold this job")
            case .unanswered: lines.append("\(style.yellow("no answer")) from \(name): try again")
            }
            lines += device.missingThere.map { "  missing on \(name): \(describe($0))" }
            lines += device.missingHere.map { "  missing here: \(describe($0))" }
        }
        StandardOutput.lines(lines.map { terminal.isInteractive ? $0 : Text.fitted($0, to: terminal.width) })
    }

    private func describe(_ range: MissingRange) -> String {
        let author = range.replicaName.map(Text.plain) ?? ShortIDs.random(range.replicaID)
        let beyondFirst = Int(clamping: range.last - min(range.first, range.last))
        let count = beyondFirst < .max ? beyondFirst + 1 : .max
        let span = range.first == range.last ? "\(range.first)" : "\(range.first)–\(range.last)"
        return "\(counted(count, "transform")) (\(span)) by \(author)"
    }
}
