package import FoundationEssentials

/// A line of systemd's journal, as `journalctl --output=json` prints it (systemd.journal-fields(7)).
package struct JournalLine: Hashable, Sendable {
    /// Who has written it.
    package enum Writer: Hashable, Sendable {
        /// A program of ours, by `JournalLogHandler`: the sentence that stays the same, and what it is about.
        case program(event: String, details: [String: String])
        /// systemd, of the unit: that it was started, that its process has ended and by what.
        case manager
        /// Whatever went to standard error otherwise, such as a crash: nobody has said what may stand in it.
        case other
    }

    /// By the machine's own clock, in milliseconds since 1970.
    package let at: Int64
    /// As swift-log calls it.
    package let level: String
    /// What people read.
    package let message: String
    /// And by whom.
    package let writer: Writer

    /// Nil for what is no such line.
    package init?(json: Data) {
        guard let fields = try? JSONDecoder().decode([String: Field].self, from: json),
            let time = fields["__REALTIME_TIMESTAMP"]?.text.flatMap({ Int64($0) })
        else { return nil }
        at = time / 1_000
        level = Self.level(ofPriority: fields["PRIORITY"]?.text)
        message = fields["MESSAGE"]?.text ?? ""
        if let event = fields["MUSTER_EVENT"]?.text {
            var details: [String: String] = [:]
            for (name, field) in fields where name.hasPrefix("MUSTER_") && name != "MUSTER_EVENT" {
                details[Self.key(ofField: name.dropFirst("MUSTER_".count))] = field.text
            }
            writer = .program(event: event, details: details)
        } else {
            // What begins with an underscore journald itself vouches for.
            writer = fields["_PID"]?.text == "1" ? .manager : .other
        }
    }

    /// Text, or what has none: bytes that are no UTF-8, or more than one value.
    private struct Field: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    /// `STEP_MILLISECONDS` is `stepMilliseconds`, as `JournalLogHandler` was told.
    static func key(ofField name: Substring) -> String {
        let words = name.lowercased().split(separator: "_")
        return (words.first.map { String($0) } ?? "")
            + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// As `JournalLogHandler` numbers them.
    private static func level(ofPriority priority: String?) -> String {
        switch priority.flatMap({ Int($0) }) {
        case 0?, 1?, 2?: "critical"
        case 3?: "error"
        case 4?: "warning"
        case 5?: "notice"
        case 7?: "debug"
        default: "info"
        }
    }
}

extension JournalLine {
    /// The last lines that concern a unit, the oldest first; none where the journal is not this user's to read.
    ///
    /// - Throws: `ProgramOutput.Fault` where there is no journal.
    package static func last(_ count: Int, of unit: String) throws(ProgramOutput.Fault) -> [JournalLine] {
        let output = try ProgramOutput(
            of: ["journalctl", "--quiet", "--no-pager", "--output=json", "--lines=\(count)", "--unit=\(unit)"],
            mostBytes: 16 << 20, seconds: 10)
        return output.bytes.split(separator: UInt8(ascii: "\n")).compactMap { JournalLine(json: Data($0)) }
    }
}
