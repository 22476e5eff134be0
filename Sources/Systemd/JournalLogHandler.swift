package import Logging

/// Logs to systemd's journal with the data of each line as fields of their own, so that
/// `journalctl -u musterd MUSTER_JOB=…` finds what concerns one job (systemd.journal-fields(7)).
///
/// `MESSAGE` is what people read, with the data behind it; `MUSTER_EVENT` the sentence that stays the same, which scripts look for;
/// `MUSTER_…` each piece of data. The socket's protocol: a field is `NAME=value` and a line feed, or where the value has line feeds the name, a line feed,
/// the length as 64 bits little-endian, the value and a line feed (systemd.io, Native Journal Protocol).
package struct JournalLogHandler: LogHandler {
    /// Where journald takes datagrams.
    package static let socketPath = "/run/systemd/journal/socket"

    /// What is logged of each of its loggers.
    package var logLevel = Logger.Level.info
    /// What each line has besides its own.
    package var metadata: Logger.Metadata = [:]
    private let identifier: String
    private let socket: DatagramSocket
    private let fallback: StreamLogHandler

    /// - Parameter socketPath: journald's.
    package init?(identifier: String, socketPath: String = Self.socketPath) {
        guard let socket = DatagramSocket(path: socketPath) else { return nil }
        self.socket = socket
        self.identifier = identifier
        fallback = StreamLogHandler.standardError(label: identifier)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let data = metadata.merging(event.metadata ?? [:]) { _, own in own }
        let sorted = data.map { (key: $0.key, value: "\($0.value)") }.sorted { $0.key < $1.key }
        let details = sorted.map { " \($0.key)=\($0.value)" }.joined()
        var bytes: [UInt8] = []
        Self.append("MESSAGE", "\(event.message)\(details)", to: &bytes)
        Self.append("PRIORITY", "\(Self.priority(event.level))", to: &bytes)
        Self.append("SYSLOG_IDENTIFIER", identifier, to: &bytes)
        Self.append("MUSTER_EVENT", "\(event.message)", to: &bytes)
        for (key, value) in sorted { Self.append("MUSTER_\(Self.fieldName(key))", value, to: &bytes) }
        // A line that journald does not take, since it is too long or nobody listens, is not lost: systemd reads standard error.
        guard !socket.send(bytes) else { return }
        var whole = event
        whole.metadata = data
        fallback.log(event: whole)
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        let value = Array(value.utf8)
        bytes += name.utf8
        if value.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: value.count >> ($0 * 8)) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Capitals, digits and underscores, as journald wants them: `stepMilliseconds` is `STEP_MILLISECONDS`.
    static func fieldName(_ key: String) -> String {
        var name = ""
        for letter in key {
            if letter.isUppercase, !name.isEmpty { name += "_" }
            name += letter.isASCII && (letter.isLetter || letter.isNumber) ? letter.uppercased() : "_"
        }
        return name
    }

    /// As syslog(3) numbers them.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}

/// What a program logs with.
package enum SystemLog {
    /// A last word of a program on standard error; the journal gets it as an error (sd-daemon(3)).
    package static func lastWord(_ sentence: String, environment: [String: String]) -> String {
        "\(ThisProcess.writesToJournal(environment) ? "<3>" : "")\(sentence)\n"
    }

    /// The journal where systemd has connected standard error to it, else standard error.
    ///
    /// - Parameters:
    ///   - program: its name.
    ///   - environment: the process's.
    package static func handler(of program: String, environment: [String: String]) -> any LogHandler {
        if ThisProcess.writesToJournal(environment), let journal = JournalLogHandler(identifier: program) {
            return journal
        }
        return StreamLogHandler.standardError(label: program)
    }
}
