import NIOCore
import Replication
import Synchronization
import Testing
import Transport
import WireFormat

@Suite("Hostile peers", .timeLimit(.minutes(1)))
struct HostilePeerTests {
    @Test("a peer that never reads is cut before it costs memory")
    func neverReads() async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { transport, port in
            let peer = try await RawPeer.connect(port: port, receiveBuffer: 4096)
            try peer.say(Samples.hello)
            await handler.wait { $0.messages.count == 1 }
            let link = handler.events.opened[0]
            let before = try residentBytes()
            for number in 1...400 { transport.send(Samples.delta(bytes: 250_000, first: UInt64(number)), on: link) }
            await handler.wait { !$0.closed.isEmpty }
            #expect(handler.events.closingReasons[0].contains("does not read"))
            #expect(try residentBytes() - before < 24 << 20)
            await peer.close()
        }
    }

    @Test("a backlog that grows and shrinks is told once each way")
    func backlog() async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { transport, port in
            let peer = try await RawPeer.connect(port: port, receiveBuffer: 4096)
            try peer.say(Samples.hello)
            await handler.wait { $0.messages.count == 1 }
            let link = handler.events.opened[0]
            for number in 1...28 { transport.send(Samples.delta(bytes: 250_000, first: UInt64(number)), on: link) }
            await handler.wait { $0.congestion.last == true }
            try await peer.channel.setOption(.autoRead, value: true).get()
            await handler.wait { $0.congestion.last == false }
            await peer.close()
        }
        // On a busy machine the kernel may take as much as is sent, for a while: then it grows and shrinks twice.
        let told = handler.events.congestion
        #expect(told == told.indices.map { $0.isMultiple(of: 2) })
    }

    @Test("a connection without a hello is closed at the deadline, also one that has sent half of it")
    func handshakeDeadline() async throws {
        var configuration = TransportConfiguration(host: "127.0.0.1", port: 0)
        configuration.handshakeTimeout = .milliseconds(500)
        let handler = RecordingHandler()
        try await withTransport(handler, configuration) { _, port in
            let silent = try await RawPeer.connect(port: port)
            let slow = try await RawPeer.connect(port: port)
            slow.say(try FrameEncoder.encode(Samples.hello).getSlice(at: 0, length: 9)!)
            let sound = try await RawPeer.connect(port: port)
            try sound.say(Samples.hello)
            try await silent.untilClosed()
            try await slow.untilClosed()
            await handler.wait { $0.closed.count == 2 }
            #expect(handler.events.closingReasons == ["no hello came in time", "no hello came in time"])
            try sound.say(.ping(1))
            await handler.wait { $0.messages.contains(.ping(1)) }
            await sound.close()
        }
    }

    @Test("idle connections give way to newer ones, and neither takes the room of this laptop's own dials")
    func idleConnections() async throws {
        var configuration = TransportConfiguration(host: "127.0.0.1", port: 0)
        configuration.connections.halfOpen = 2
        let handler = RecordingHandler()
        let crew = RecordingHandler()
        try await withTransport(crew) { _, crewPort in
            try await withTransport(handler, configuration) { transport, port in
                let first = try await RawPeer.connect(port: port)
                await handler.wait { $0.opened.count == 1 }
                let second = try await RawPeer.connect(port: port)
                await handler.wait { $0.opened.count == 2 }
                let third = try await RawPeer.connect(port: port)
                try await first.untilClosed()
                await handler.wait { $0.opened.count == 3 && $0.closed.count == 1 }
                #expect(handler.events.closingReasons[0].contains("newer connection"))
                transport.dial(PeerAddress(host: "127.0.0.1", port: crewPort))
                await handler.wait { $0.opened.count == 4 }
                for peer in [second, third] { await peer.close() }
            }
        }
    }

    @Test("over the cap on those that stand nobody gets in, which is told, and this laptop still dials")
    func linkCap() async throws {
        var configuration = TransportConfiguration(host: "127.0.0.1", port: 0)
        configuration.connections.incoming = 1
        let handler = RecordingHandler()
        let crew = RecordingHandler()
        try await withTransport(crew) { _, crewPort in
            try await withTransport(handler, configuration) { transport, port in
                let peer = try await RawPeer.connect(port: port)
                try peer.say(Samples.hello)
                await handler.wait { $0.messages.count == 1 }
                transport.established(handler.events.opened[0])
                try await RawPeer.connect(port: port).untilClosed()
                await handler.wait { $0.refusals == ["too many connections"] }
                transport.dial(PeerAddress(host: "127.0.0.1", port: crewPort))
                await handler.wait { $0.opened.count == 2 }
                await peer.close()
            }
        }
    }

    static let faults: [(name: String, bytes: [UInt8], reason: String)] = [
        ("malformed", [0, 0, 0, 2, 0xff, 0xff], "protobuf"),
        ("oversized", [0, 0x20, 0, 0], "over the limit"),
        ("unknown", [0, 0, 0, 5, 0x9a, 0x06, 2, 8, 1], "does not know"),
    ]

    @Test("a faulty frame closes its own connection and no other", arguments: faults)
    func faultyFrame(name: String, bytes: [UInt8], reason: String) async throws {
        let handler = RecordingHandler()
        try await withTransport(handler) { transport, port in
            let sound = try await RawPeer.connect(port: port)
            try sound.say(Samples.hello)
            await handler.wait { $0.messages.count == 1 }
            let faulty = try await RawPeer.connect(port: port)
            try faulty.say(Samples.hello)
            try faulty.say(.ping(7))
            faulty.say(ByteBuffer(bytes: bytes))
            try await faulty.untilClosed()
            await handler.wait { $0.closed.count == 1 }
            #expect(handler.events.closingReasons[0].contains(reason))
            #expect(handler.events.messages.contains(.ping(7)), "what came before the fault counts")
            try sound.say(.ping(8))
            await handler.wait { $0.messages.contains(.ping(8)) }
            await sound.close()
        }
    }
}
