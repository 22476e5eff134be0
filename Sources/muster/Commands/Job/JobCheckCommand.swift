import ArgumentParser
import LocalAPI

struct JobCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare this laptop's copy of a job with that of every other laptop.",
        discussion: """
            Exits with 0 when every laptop on which somebody has written in the job is connected and holds the same, \
            with 1 when a copy differs, and with 2 when that cannot be known, because a laptop is away or does not \
            answer. It names what is missing where, and what a laptop that is away was last known to lack. A laptop \
            whose work has not come here yet cannot be known of.

            Example:
              muster job check "Smith, 12 Elm Street" && echo "all the same"
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let check = try await options.withClient { try await $0.check(job: job.reference) }
        if options.json { try StandardOutput.json(check) } else { show(check, on: .output) }
        switch check.comparison {
        case .same: break
        case .different: throw Stop(code: .different)
        case .unknown, .notConnected: throw Stop(code: .unknown)
        }
    }

    private func show(_ check: JobCheck, on terminal: Terminal) {
        let style = terminal.style
        var lines = ["Digest \(check.digest)"]
        if check.comparison == .notConnected {
            lines.append("No laptop is connected: there is nothing to compare with.")
        }
        for device in check.devices {
            let name = device.name.map(Text.plain) ?? device.deviceID.map(ShortIDs.random) ?? "a laptop without a name"
            switch device.outcome {
            case .same: lines.append("\(style.green("same")) on \(name)")
            case .different: lines.append("\(style.red("different")) on \(name)")
            case .absent: lines.append("\(style.red("absent")) on \(name): it does not hold this job")
            case .unanswered: lines.append("\(style.yellow("no answer")) from \(name): try again")
            case .away: lines.append("\(style.yellow("away")): \(name), \(lastHeard(device))")
            }
            let verb = device.outcome == .away ? "lacked" : "missing on \(name):"
            lines += device.missingThere.flatMap { describe($0, verb) }
            lines += device.missingHere.flatMap { describe($0, "missing here:") }
        }
        // Never cut: what is missing is what people look for.
        StandardOutput.lines(lines)
    }

    private func lastHeard(_ device: DeviceCheck) -> String {
        guard let time = device.heardAt else { return "never connected to this one" }
        let holding =
            !device.isHoldingKnown
            ? "what it held then is not known"
            : device.missingThere.isEmpty ? "nothing of what is here was missing there" : "of what is here it"
        return "last connected \(Formats.time(time)), \(holding)"
    }

    private func describe(_ range: MissingRange, _ verb: String) -> [String] {
        let author = range.replicaName.map(Text.plain) ?? ShortIDs.random(range.replicaID)
        let beyondFirst = Int(clamping: range.last - min(range.first, range.last))
        let count = beyondFirst < .max ? beyondFirst + 1 : .max
        let span = range.first == range.last ? "\(range.first)" : "\(range.first)–\(range.last)"
        var lines = ["  \(verb) \(counted(count, "change")) (\(span)) by \(author)"]
        lines += range.items.map { item in
            "    \(item.name.map { Text.plain($0) + "  " } ?? "")\(ShortIDs.one(item.id))"
        }
        if let all = range.itemCount, all > range.items.count {
            lines.append("    and \(counted(all - range.items.count, "more item"))")
        }
        return lines
    }
}
