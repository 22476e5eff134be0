import CRDT
import Replication
import Synchronization
import Testing
import Transport

@Suite("Two transports", .timeLimit(.minutes(1)))
struct ExchangeTests {
    @Test("exchange messages of every kind, in order, in both directions")
    func everyKind() async throws {
        let server = RecordingHandler()
        let client = RecordingHandler()
        try await withTransport(server) { listening, port in
            try await withTransport(client) { dialling, _ in
                dialling.dial(PeerAddress(host: "127.0.0.1", port: port))
                await client.wait { !$0.opened.isEmpty }
                await server.wait { !$0.opened.isEmpty }
                let pairs = [(dialling, client.events.opened[0]), (listening, server.events.opened[0])]
                for (transport, link) in pairs {
                    for message in [Samples.hello] + Samples.everyKind { transport.send(message, on: link) }
                }
                for handler in [client, server] {
                    await handler.wait { $0.messages.count == Samples.everyKind.count + 1 }
                    #expect(handler.events.messages == [Samples.hello] + Samples.everyKind)
                }
                let traffic = try #require(dialling.traffic(of: pairs[0].1))
                #expect(traffic.bytesReceived > 300_000 && traffic.bytesSent > 300_000)
                #expect(client.events.first == .opened(pairs[0].1, dialled: true))
                #expect(server.events.first == .opened(pairs[1].1, dialled: false))
            }
        }
        #expect(client.events.closed.count == 1)
        #expect(server.events.closed.count == 1)
    }

    @Test("what was sent before a close still arrives, and both sides hear of the close once")
    func closeAfterGoodbye() async throws {
        let server = RecordingHandler()
        let client = RecordingHandler()
        try await withTransport(server) { listening, port in
            try await withTransport(client) { dialling, _ in
                dialling.dial(PeerAddress(host: "127.0.0.1", port: port))
                await client.wait { !$0.opened.isEmpty }
                await server.wait { !$0.opened.isEmpty }
                let link = client.events.opened[0]
                listening.send(Samples.hello, on: server.events.opened[0])
                let messages =
                    [Samples.hello] + (1...8).map { Samples.delta(bytes: 200_000, first: $0) }
                    + [.goodbye("enough")]
                for message in messages { dialling.send(message, on: link) }
                dialling.close(link, reason: "said goodbye")
                dialling.close(link, reason: "again")
                dialling.send(.ping(1), on: link)
                await server.wait { !$0.closed.isEmpty }
                await client.wait { !$0.closed.isEmpty }
                #expect(server.events.messages == messages)
                #expect(client.events.closingReasons == ["said goodbye"])
                #expect(server.events.closingReasons == ["the peer closed the connection"])
                #expect(dialling.traffic(of: link) == nil)
            }
        }
    }

    @Test(
        "a run goes compressed to another machine, and as it is within one",
        arguments: ["127.0.0.2", "127.0.0.1"])
    func compression(host: String) async throws {
        let server = RecordingHandler()
        let client = RecordingHandler()
        try await withTransport(server, .init(host: host, port: 0)) { listening, port in
            try await withTransport(client) { dialling, _ in
                dialling.dial(PeerAddress(host: host, port: port))
                await client.wait { !$0.opened.isEmpty }
                await server.wait { !$0.opened.isEmpty }
                let link = client.events.opened[0]
                let run = Samples.delta(bytes: 100_000)
                listening.send(Samples.hello, on: server.events.opened[0])
                listening.send(run, on: server.events.opened[0])
                await client.wait { $0.messages == [Samples.hello, run] }
                let bytes = try #require(dialling.traffic(of: link)).bytesReceived
                #expect(host == "127.0.0.2" ? bytes < 5_000 : bytes > 100_000, "\(bytes)")
            }
        }
    }

    @Test("a stream of 50 MB through a slow handler keeps memory bounded and loses nothing")
    func slowHandler() async throws {
        let count: UInt64 = 200
        let bytes = 250_000
        let received = Mutex<[UInt64]>([])
        let server = RecordingHandler(onReceived: { message, _ in
            guard case .delta(_, let segment, _) = message else { return true }
            received.withLock { $0.append(segment.first) }
            try? await Task.sleep(for: .milliseconds(5))
            return segment.first == count
        })
        let client = RecordingHandler()
        try await withTransport(server) { listening, port in
            try await withTransport(client) { dialling, _ in
                dialling.dial(PeerAddress(host: "127.0.0.1", port: port))
                await client.wait { !$0.opened.isEmpty }
                await server.wait { !$0.opened.isEmpty }
                let link = client.events.opened[0]
                listening.send(Samples.hello, on: server.events.opened[0])
                dialling.send(Samples.hello, on: link)
                let before = try residentBytes()
                var most = before
                for number in 1...count {
                    // The sender heeds the backlog, as the mesh does.
                    while dialling.isCongested(link) { try await Task.sleep(for: .milliseconds(1)) }
                    dialling.send(Samples.delta(bytes: bytes, first: number), on: link)
                    most = max(most, try residentBytes())
                }
                await server.wait { $0.messages.count == 2 }
                #expect(received.withLock { $0 } == Array(1...count))
                #expect(client.events.congestion.contains(true), "the sender was never held back")
                #expect(most - before < 24 << 20, "grew by \((most - before) >> 20) MiB")
            }
        }
    }
}
