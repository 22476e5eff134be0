import Logging
import NIOCore
import NIOPosix
import Replication
import Synchronization
import Testing
import Transport

@Suite("Listening and dialling", .timeLimit(.minutes(1)))
struct ListeningTests {
    @Test("a listener comes up when its port becomes free")
    func portBecomesFree() async throws {
        let squatter = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(squatter.localAddress?.port)
        var configuration = TransportConfiguration(host: "127.0.0.1", port: port)
        configuration.firstBindRetryDelay = .milliseconds(20)
        let release = Task {
            try await Task.sleep(for: .milliseconds(150))
            try await squatter.close()
        }
        let handler = RecordingHandler()
        let start = ContinuousClock.now
        let log = RecordingLog()
        let logger = Logger(label: "test") { _ in log }
        try await withTransport(handler, configuration, logger: logger) { _, bound in
            #expect(bound == port)
            #expect(ContinuousClock.now - start > .milliseconds(140), "the port was never taken")
            let peer = try await RawPeer.connect(port: port)
            await handler.wait { $0.opened.count == 1 }
            await peer.close()
        }
        try await release.value
        let told = log.lines.told.withLock { $0.filter { $0.hasPrefix("cannot listen yet") } }
        #expect(told.first == "cannot listen yet; trying again 127.0.0.1:\(port) Address already in use.")
    }

    @Test("a dial to nobody is reported as failed")
    func nobodyThere() async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { transport, _ in
            transport.dial(PeerAddress(host: "127.0.0.1", port: 1))
            await handler.wait { $0.dialFailures == 1 }
        }
        #expect(handler.events.opened.isEmpty)
    }

    @Test("one address is dialled once at a time, and given up at the timeout")
    func dialledOnce() async throws {
        let deaf = try DeafServer()
        defer { deaf.close() }
        var configuration = TransportConfiguration(host: "127.0.0.1", port: 0)
        configuration.connectTimeout = .milliseconds(300)
        let handler = RecordingHandler()
        try await withTransport(handler, configuration) { transport, _ in
            for _ in 0..<20 { transport.dial(PeerAddress(host: "127.0.0.1", port: deaf.port)) }
            await handler.wait { $0.dialFailures > 0 }
            // When that is done, the next one may follow, and no other had waited behind the first.
            transport.dial(PeerAddress(host: "127.0.0.1", port: deaf.port))
            await handler.wait { $0.dialFailures > 1 }
        }
        #expect(handler.events.dialFailures == 2)
        #expect(handler.events.opened.isEmpty)
    }
}

/// Keeps each line, with the address and the reason that it names.
private struct RecordingLog: LogHandler {
    final class Lines: Sendable { let told = Mutex<[String]>([]) }

    let lines = Lines()
    var logLevel = Logger.Level.debug
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let named = ["address", "reason"].compactMap { event.metadata?[$0].map { "\($0)" } }
        lines.told.withLock { $0.append((["\(event.message)"] + named).joined(separator: " ")) }
    }
}
