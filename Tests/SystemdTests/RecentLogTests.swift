import Logging
import Testing

@testable import Systemd

struct RecentLogTests {
    private func logger(_ log: RecentLog) -> Logger {
        var logger = Logger(label: "test") { _ in RecentLogHandler(SwiftLogNoOpLogHandler(), keepingIn: log) }
        logger.logLevel = .info
        return logger
    }

    @Test("The last 500 lines are kept, the oldest first, with what they are about")
    func ring() {
        let log = RecentLog()
        var logger = logger(log)
        #expect(log.lines == [])
        logger[metadataKey: "device"] = "beef"
        logger.warning("first", metadata: ["job": "A"])
        #expect(log.lines.map(\.event) == ["first"] && log.lines.map(\.level) == ["warning"])
        #expect(log.lines.first?.details == ["job": "A", "device": "beef"])
        for number in 0..<1_203 { logger.info("\(number)") }
        #expect(log.lines.map(\.event) == (703..<1_203).map(String.init))
    }

    @Test("A long value is cut")
    func long() {
        let log = RecentLog()
        logger(log).info("long", metadata: ["reason": "\(String(repeating: "x", count: 5_000))"])
        #expect(log.lines.first?.details["reason"]?.count == 300)
    }
}
