package import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The last lines that a program has logged, for whoever reports a fault: not everybody may read the journal.
package final class RecentLog: Sendable {
    /// One of them.
    package struct Line: Hashable, Sendable {
        /// By the machine's own clock, in milliseconds since 1970.
        package let at: Int64
        /// As swift-log calls it.
        package let level: String
        /// The sentence that stays the same.
        package let event: String
        /// What it is about, each value cut.
        package let details: [String: String]
    }

    /// More are not kept.
    private static let most = 500
    /// A longer value is cut: a whole line stays below what the journal takes.
    private static let valueLength = 300

    private let kept = Mutex<(lines: [Line], next: Int)>(([], 0))

    /// Begins empty.
    package init() {}

    /// The oldest first.
    package var lines: [Line] {
        kept.withLock { kept in Array(kept.lines[kept.next...] + kept.lines[..<kept.next]) }
    }

    /// Keeps a line in the place of the oldest.
    func keep(_ event: LogEvent, _ metadata: Logger.Metadata) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let line = Line(
            at: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000, level: event.level.rawValue,
            event: String("\(event.message)".prefix(Self.valueLength)),
            details: metadata.mapValues { String("\($0)".prefix(Self.valueLength)) })
        kept.withLock { kept in
            guard kept.lines.count == Self.most else { return kept.lines.append(line) }
            kept.lines[kept.next] = line
            kept.next = (kept.next + 1) % Self.most
        }
    }
}

/// Keeps what another handler logs.
package struct RecentLogHandler: LogHandler {
    private var handler: any LogHandler
    private let log: RecentLog

    /// - Parameters:
    ///   - handler: gets every line, too.
    ///   - log: where the last are kept.
    package init(_ handler: any LogHandler, keepingIn log: RecentLog) {
        self.handler = handler
        self.log = log
        logLevel = handler.logLevel
        metadata = handler.metadata
    }

    /// Also that of the other handler.
    package var logLevel: Logger.Level { didSet { handler.logLevel = logLevel } }

    /// Also that of the other handler.
    package var metadata: Logger.Metadata { didSet { handler.metadata = metadata } }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        log.keep(event, metadata.merging(event.metadata ?? [:]) { _, own in own })
        handler.log(event: event)
    }
}
