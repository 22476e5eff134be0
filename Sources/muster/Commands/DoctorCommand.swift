import ArgumentParser
import LocalAPI
import Systemd

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the daemon and what it depends on: a line each, with the remedy.",
        discussion: """
            Exits with 1 when a check fails; warnings are no failure.

            Example:
              muster doctor
            """)

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let report = await examine()
        if options.json { try StandardOutput.json(report) } else { show(report, on: .output) }
        if !report.isHealthy { throw Stop(code: .different) }
    }

    /// The daemon's own findings after whether it answers at all.
    private func examine() async -> DoctorReport {
        do {
            let report = try await options.withClient { try await $0.doctor() }
            let daemon = HealthCheck("daemon", .ok, "answers")
            return DoctorReport(checks: [daemon] + report.checks)
        } catch {
            let failure = error as? APIError
            let check = HealthCheck(
                "daemon", .failed, failure?.parts?.finding ?? failure?.message ?? "\(error)",
                remedy: failure?.parts?.remedy ?? "see its log (journalctl -u musterd)")
            return DoctorReport(checks: [check])
        }
    }

    private func show(_ report: DoctorReport, on terminal: Terminal) {
        let nameWidth = report.checks.reduce(0) { max($0, Text.width($1.name)) } + 2
        var lines: [String] = []
        for check in report.checks {
            let head = mark(check.outcome, terminal.style) + Text.padded(Text.plain(check.name), to: nameWidth)
            let text = Text.plain(check.finding + (check.remedy.map { "; \($0)" } ?? ""))
            // A script searches line by line; a person reads better what does not break in a word.
            let room = max(20, terminal.width - 6 - nameWidth)
            let parts = terminal.isInteractive ? Text.wrapped(text, to: room) : [text]
            lines.append(head + (parts.first ?? ""))
            lines += parts.dropFirst().map { String(repeating: " ", count: 6 + nameWidth) + $0 }
        }
        StandardOutput.lines(lines)
    }

    private func mark(_ outcome: HealthCheck.Outcome, _ style: Style) -> String {
        switch outcome {
        case .ok: style.green("ok") + "    "
        case .warning: style.yellow("warn") + "  "
        case .failed: style.red("FAIL") + "  "
        }
    }
}
