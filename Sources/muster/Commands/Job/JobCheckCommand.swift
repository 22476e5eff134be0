import ArgumentParser
import LocalAPI
import Systemd

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

    /// A line that begins with a word in colour.
    private struct Line {
        var word = ""
        var colour: (String) -> String = { $0 }
        var rest: String

        /// Broken between words where a person reads it, and never cut: what is missing is what people look for.
        func lines(on terminal: Terminal) -> [String] {
            let text = word + rest
            let isLong = !terminal.isPiped && Text.width(text) > terminal.width
            let margin = String(text.prefix { $0 == " " })
            let parts = isLong ? Text.wrapped(text, to: max(20, terminal.width - margin.count - 2)) : [text]
            return parts.enumerated().map { index, part in
                guard index == 0 else { return margin + "  " + part }
                let first = isLong ? margin + part : part
                return first.hasPrefix(word) ? colour(word) + first.dropFirst(word.count) : first
            }
        }
    }

    private func show(_ check: JobCheck, on terminal: Terminal) {
        let style = terminal.style
        var lines: [Line] = []
        for device in check.devices {
            let name = device.title
            switch device.outcome {
            case .same: lines.append(Line(word: "same", colour: style.green, rest: " on \(name)"))
            case .different: lines.append(Line(word: "different", colour: style.red, rest: " on \(name)"))
            case .absent:
                lines.append(Line(word: "absent", colour: style.red, rest: " on \(name): it does not hold this job"))
            case .unanswered:
                lines.append(Line(word: "no answer", colour: style.yellow, rest: " from \(name): try again"))
            case .away:
                lines.append(Line(word: "away", colour: style.yellow, rest: ": \(name), \(lastHeard(device))"))
            }
            let verb = device.outcome == .away ? "it lacked" : "missing on \(name):"
            lines += device.missingThere.flatMap { describe($0, verb) }.map { Line(rest: $0) }
            lines += device.missingHere.flatMap { describe($0, "missing here:") }.map { Line(rest: $0) }
        }
        lines.append(verdict(check, style))
        StandardOutput.lines(["Digest \(check.digest)"] + lines.flatMap { $0.lines(on: terminal) })
    }

    /// What it comes to, in words.
    private func verdict(_ check: JobCheck, _ style: Style) -> Line {
        let names = { (outcomes: Set<DeviceCheck.Outcome>) in
            check.devices.filter { outcomes.contains($0.outcome) }.map(\.title)
        }
        switch check.comparison {
        case .same: return Line(word: "All the same.", colour: style.green, rest: "")
        case .different:
            let others = names([.different, .absent]).joined(separator: ", ")
            return Line(
                word: "Different", colour: style.red,
                rest: ": \(others). What is missing comes by itself while both are connected.")
        case .unknown:
            let (away, silent) = (names([.away]), names([.unanswered]))
            let reasons = [(away, "away"), (silent, "silent")].filter { !$0.0.isEmpty }.map { names, word in
                "\(names.joined(separator: ", ")) \(names.count == 1 ? "is" : "are") \(word)"
            }
            return Line(
                word: "Cannot be known", colour: style.yellow, rest: ": \(reasons.joined(separator: ", and ")).")
        case .notConnected:
            return Line(
                word: "Cannot be known", colour: style.yellow,
                rest: ": no laptop is connected, so there is nothing to compare with.")
        }
    }

    private func lastHeard(_ device: DeviceCheck) -> String {
        guard let time = device.heardAt else { return "never connected to this one" }
        let holding =
            !device.isHoldingKnown
            ? "what it held then is not known"
            : device.missingThere.isEmpty
                ? "it had everything that is here" : "it did not have everything that is here"
        return "since \(Formats.time(time)); \(holding)"
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

extension DeviceCheck {
    /// As people know the laptop.
    fileprivate var title: String {
        name.map(Text.plain) ?? deviceID.map(ShortIDs.random) ?? "a laptop without a name"
    }
}
