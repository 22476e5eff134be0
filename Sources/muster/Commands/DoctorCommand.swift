import ArgumentParser
import Checkup
import FoundationEssentials
import Glibc
import HTTPCoding
import LocalAPI
import Systemd

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the daemon and what it depends on: a line each, with the remedy.",
        discussion: """
            Exits with 1 when a check fails; warnings are no failure, nor is what could not be looked at ("?"). When no \
            daemon answers within 3 seconds, it looks at what can be seen without one. \
            Each check has a name that stays the same, with --json as "id"; docs/operations.md says what each means.

            Example:
              muster doctor
            """)

    /// A daemon that takes longer counts as one that stands still: the doctor is to be done within 5 s.
    private static let patienceSeconds = 3

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let report = await Self.examine(options)
        if options.json { try StandardOutput.json(report) } else { show(report, on: .output) }
        if !report.isHealthy { throw Stop(code: .different) }
    }

    /// The daemon's own findings after whether it answers at all; what can be looked at without it when it does not.
    static func examine(_ options: GlobalOptions) async -> DoctorReport {
        do {
            let report = try await LocalClient.with(
                socketPath: options.socketPath, timeoutSeconds: patienceSeconds
            ) { try await $0.doctor() }
            return DoctorReport(version: report.version, checks: [daemon(of: report)] + report.checks)
        } catch {
            let failure = error as? APIError
            let check = HealthCheck.fail(
                .daemon, failure?.parts?.finding ?? failure?.message ?? "\(error)",
                remedy: failure?.parts?.remedy ?? "see its log (journalctl -u musterd)")
            let isGone = failure?.code == .unreachable && options.meansService
            return Checkup.report(
                withoutDaemon: check, ended: isGone ? serviceExit : nil, stateDirectory: stateDirectory(options))
        }
    }

    /// How the service has ended, which systemd tells everybody; nil where it does not.
    private static var serviceExit: SystemExit? {
        let words = ["systemctl", "show", "--value", "--property=ExecMainStatus", "musterd.service"]
        guard let output = try? ProgramOutput(of: words, mostBytes: 4_096, seconds: 1) else { return nil }
        return Int32(String(decoding: output.bytes, as: UTF8.self).prefix { $0.isNumber }).flatMap(SystemExit.init)
    }

    /// After an update the former daemon may still run.
    private static func daemon(of report: DoctorReport) -> HealthCheck {
        guard let version = report.version, version != MusterVersion.current else { return .ok(.daemon, "answers") }
        return .warn(
            .daemon, "answers, but is of version \(version), and this program of \(MusterVersion.current)",
            remedy: "restart it (systemctl restart musterd)")
    }

    /// Where the daemon of this socket keeps its store; nil where nobody has said.
    private static func stateDirectory(_ options: GlobalOptions) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let told = environment["MUSTER_STATE_DIR"], !told.isEmpty { return told }
        let own = UsualDirectories(environment: environment, isRoot: geteuid() == 0)
        return [own, .system].first { $0.socket == options.socketPath }?.state
    }

    private func show(_ report: DoctorReport, on terminal: Terminal) {
        let rows = Self.rows(of: report.checks)
        let nameWidth = rows.reduce(0) { max($0, Text.width($1.name)) } + 2
        var lines: [String] = []
        for row in rows {
            let head = mark(row.outcome, terminal.style) + Text.padded(Text.plain(row.name), to: nameWidth)
            let text = Text.plain(row.text)
            // A script searches line by line; a person reads better what does not break in a word.
            let room = max(20, terminal.width - 6 - nameWidth)
            let parts = terminal.isInteractive ? Text.wrapped(text, to: room) : [text]
            lines.append(head + (parts.first ?? ""))
            lines += parts.dropFirst().map { String(repeating: " ", count: 6 + nameWidth) + $0 }
        }
        StandardOutput.lines(lines)
    }

    private typealias Row = (name: String, outcome: HealthCheck.Outcome, text: String)

    /// A line each; what could not be looked at for one and the same reason is one line.
    private static func rows(of checks: [HealthCheck]) -> [Row] {
        var rows: [Row] = []
        var told: Set<String> = []
        for check in checks {
            let text = check.finding + (check.remedy.map { "; \($0)" } ?? "")
            let alike = checks.filter { $0.outcome == .unknown && $0.finding == check.finding }
            guard check.outcome == .unknown, alike.count > 1 else {
                rows.append((check.id.rawValue, check.outcome, text))
                continue
            }
            guard told.insert(check.finding).inserted else { continue }
            let names = alike.map(\.id.rawValue).joined(separator: ", ")
            rows.append(("others", .unknown, "\(names): \(text)"))
        }
        return rows
    }

    private func mark(_ outcome: HealthCheck.Outcome, _ style: Style) -> String {
        switch outcome {
        case .ok: style.green("ok") + "    "
        case .warn: style.yellow("warn") + "  "
        case .fail: style.red("FAIL") + "  "
        case .unknown: style.dim("?") + "     "
        }
    }
}
