import FoundationEssentials
import Glibc
import HTTPCoding
import LocalAPI
import Systemd

/// What a daemon that does not answer has said before, from systemd's journal: by the same rule as what a daemon tells itself.
struct LastWords {
    private static let unit = "musterd.service"
    /// As many as a daemon keeps in its memory.
    private static let most = 500

    /// Where the daemon was looked for.
    let options: GlobalOptions

    /// Adds the lines to a report, or says in it why they are not there.
    func add(to report: inout SupportReport) {
        guard options.meansService else {
            return report.missing.append(
                "the daemon's log: its socket is not that of the service, so whoever has started it there knows where it logs"
            )
        }
        do throws(ProgramOutput.Fault) {
            take(try JournalLine.last(Self.most, of: Self.unit), into: &report)
        } catch {
            report.missing.append("the daemon's log: \(error)")
        }
    }

    private func take(_ lines: [JournalLine], into report: inout SupportReport) {
        guard !lines.isEmpty else {
            return report.missing.append(
                geteuid() == 0
                    ? "the daemon's log: systemd's journal has none of it"
                    : "the daemon's log: systemd shows this user none of it; ask as root, or as one of the group systemd-journal"
            )
        }
        report.events = lines.compactMap(Self.event).map(SupportReport.Event.init)
        report.customerData?.events = lines.map { SupportReport.withoutSecrets(Self.whole($0)) }
        let others = lines.count { $0.writer == .other }
        guard others > 0, report.customerData == nil else { return }
        report.missing.append(
            "\(others) line\(others == 1 ? "" : "s") of the daemon's log in which anything may stand, such as a crash's: add what 'journalctl -u musterd -n \(Self.most)' prints, once you have read it"
        )
    }

    /// What may go into every report; nil for a line of which nobody has said what may stand in it.
    private static func event(_ line: JournalLine) -> Diagnostics.LoggedEvent? {
        switch line.writer {
        case .program, .manager: whole(line)
        case .other: nil
        }
    }

    private static func whole(_ line: JournalLine) -> Diagnostics.LoggedEvent {
        let (event, details) =
            switch line.writer {
            case .program(let event, let details): (event, details)
            case .manager, .other: (line.message, [:])
            }
        return Diagnostics.LoggedEvent(
            at: Timestamp(milliseconds: line.at), level: line.level, event: event, details: details)
    }
}
