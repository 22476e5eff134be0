import Logging
import Testing

@testable import Systemd

#if canImport(Glibc)
    import Glibc
#endif

@Suite("What the journal and systemd are told")
struct JournalTests {
    @Test("A line has what people read, the sentence that stays the same, and each piece of data as a field")
    func fields() throws {
        let receiver = try Receiver()
        let handler = try #require(JournalLogHandler(identifier: "musterd", socketPath: receiver.path))
        var logger = Logger(label: "musterd") { _ in handler }
        logger[metadataKey: "peer"] = "bert"
        logger.warning("a line", metadata: ["job": "018f", "stepMilliseconds": "12"])
        #expect(
            receiver.take()
                == """
                MESSAGE=a line job=018f peer=bert stepMilliseconds=12
                PRIORITY=4
                SYSLOG_IDENTIFIER=musterd
                MUSTER_EVENT=a line
                MUSTER_JOB=018f
                MUSTER_PEER=bert
                MUSTER_STEP_MILLISECONDS=12

                """)
    }

    @Test("A value with a line feed forges no field: its length stands before it")
    func lineFeed() throws {
        let receiver = try Receiver()
        let handler = try #require(JournalLogHandler(identifier: "musterd", socketPath: receiver.path))
        let logger = Logger(label: "musterd") { _ in handler }
        logger.info("odd", metadata: ["job": "a\nPRIORITY=0"])
        let text = receiver.take()
        #expect(text.contains("MUSTER_JOB\n\u{0C}\0\0\0\0\0\0\0a\nPRIORITY=0\n"))
        #expect(text.contains("MESSAGE\n"))
        #expect(text.split(separator: "\n").filter { $0 == "PRIORITY=6" }.count == 1)
    }

    @Test(
        "Names of fields are what journald takes", arguments: [("job", "JOB"), ("upTo", "UP_TO"), ("a-b é", "A_B__")])
    func names(key: String, name: String) {
        #expect(JournalLogHandler.fieldName(key) == name)
    }

    @Test("The journal is written to only where standard error goes there")
    func elsewhere() throws {
        #expect(!(SystemLog.handler(of: "musterd", environment: ["JOURNAL_STREAM": "1:1"]) is JournalLogHandler))
        let own = ["JOURNAL_STREAM": try #require(ThisProcess.errorStream)]
        #expect(SystemLog.handler(of: "musterd", environment: own) is JournalLogHandler)
    }

    @Test("systemd is told of a start, of life and of a stop, at the socket that it names")
    func states() throws {
        let receiver = try Receiver()
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": receiver.path, "WATCHDOG_USEC": "30000000"])
        #expect(manager.watchdogMilliseconds == 30_000)
        manager.ready("2 jobs")
        #expect(receiver.take() == "READY=1\nSTATUS=2 jobs")
        manager.alive()
        #expect(receiver.take() == "WATCHDOG=1")
        manager.stopping()
        #expect(receiver.take() == "STOPPING=1")
        let others = ServiceManager(environment: ["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"])
        #expect(others.watchdogMilliseconds == nil, "the sign of life of another process")
    }
}

/// Takes datagrams at a name in the abstract namespace, which nobody has to tidy up.
private final class Receiver {
    let path: String
    private let socket: Int32

    init() throws {
        path = "@muster-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: path.utf8)
            target[0] = 0
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        try #require(bound == 0)
    }

    deinit { close(socket) }

    /// What came; empty when nothing did.
    func take() -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
