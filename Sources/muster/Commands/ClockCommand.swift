import ArgumentParser
import LocalAPI

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show how far this laptop's clock is off, who says so, and what comes from the future.",
        discussion: """
            Nothing that Muster does depends on the laptop's clock being right: it measures the error and corrects \
            what it writes. Changes from the future show like all others, move no clock, and yield to the next edit.

            Example:
              muster clock --json | jq .driftMilliseconds
            """)

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let clock = try await options.withClient { try await $0.clock() }
        if options.json { return try StandardOutput.json(clock) }
        let terminal = Terminal.output
        var facts = Facts()
        facts.add("Source", source(clock))
        facts.add("Drift", drift(clock))
        facts.add("Uncertainty", clock.uncertaintyMilliseconds.map { "± \(Formats.decimal($0)) ms" } ?? "unknown")
        facts.add("Age", clock.ageSeconds.map(Formats.duration) ?? "–")
        facts.add("Time", Formats.exactTime(clock.time))
        var lines = facts.lines(on: terminal)
        if let advice = advice(clock) { lines += [""] + Text.wrapped(advice, to: terminal.width) }
        if !clock.future.isEmpty {
            let count = clock.future.reduce(0) { $0 + $1.changes }
            lines += ["", "\(counted(count, "change")) from the future:"]
            lines += table(clock.future).lines(on: terminal)
        }
        StandardOutput.lines(lines)
    }

    private func source(_ clock: ClockReport) -> String {
        let hops = clock.stratum.map { ", stratum \($0)" } ?? ""
        return switch clock.source {
        case .server: "the server"
        case .peer: clock.isSynchronised ? "another laptop with a server behind it\(hops)" : "the crew's laptops"
        case .none: clock.isShared ? "none; other laptops go by this one's time" : "none"
        }
    }

    private func drift(_ clock: ClockReport) -> String {
        guard let drift = clock.driftMilliseconds else { return "unknown" }
        let sign = drift < 0 ? "−" : "+"
        let size = drift.magnitude >= 60_000 ? Formats.duration(seconds: drift.magnitude / 1000) + " " : ""
        let direction = drift < 0 ? "behind" : "ahead"
        return "\(sign)\(Formats.decimal(drift.magnitude)) ms: the wall clock is \(size)\(direction)"
    }

    /// What it means that no server is behind the clock, and what to do.
    private func advice(_ clock: ClockReport) -> String? {
        if clock.source == .none, !clock.isShared {
            return "This laptop knows no other clock: it goes by its own, and is unsynchronised. What it writes now is "
                + "moved to the right time when it hears a better clock before anybody has seen it. Connect it to "
                + "another laptop or to the server."
        }
        guard !clock.isSynchronised else { return nil }
        return "No server stands behind this clock, it is unsynchronised: the crew agrees on one time, which may be "
            + "wrong. Connect any one of the laptops to the server."
    }

    private func table(_ future: [FutureWork]) -> Table {
        var table = Table([.whole("UNTIL"), .text("BY"), .text("JOB"), .number("CHANGES")])
        for work in future {
            table.add(
                .exactTime(work.latest), Cell(authorDisplayName(work.by, work.byName)),
                Cell(work.jobName ?? work.job), .count(work.changes))
        }
        return table
    }
}
