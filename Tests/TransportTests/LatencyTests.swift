import Replication
import Synchronization
import Testing
import Timekeeping
import Transport

@Suite("Latency", .timeLimit(.minutes(1)))
struct LatencyTests {
    /// Answers each ping with a pong.
    private final class Echo: Sendable {
        let transport = Mutex<PeerTransport?>(nil)

        func answer(_ message: Message, on link: LinkID) {
            guard case .ping(let number) = message else { return }
            transport.withLock { $0 }?.send(
                .pong(number, received: 0, answered: 0, .unsynchronised), on: link)
        }
    }

    @Test("a small message goes there and back without waiting for anything")
    func roundTrip() async throws {
        let rounds = 2000
        let echo = Echo()
        let server = RecordingHandler(onReceived: { message, link in
            echo.answer(message, on: link)
            return false
        })
        let (pongs, pong) = AsyncStream.makeStream(of: Void.self)
        let client = RecordingHandler(onReceived: { _, _ in
            pong.yield()
            return false
        })
        let times = try await withTransport(server) { listening, port in
            echo.transport.withLock { $0 = listening }
            return try await withTransport(client) { dialling, _ in
                dialling.dial(PeerAddress(host: "127.0.0.1", port: port))
                await client.wait { !$0.opened.isEmpty }
                await server.wait { !$0.opened.isEmpty }
                let link = client.events.opened[0]
                dialling.send(Samples.hello, on: link)
                listening.send(Samples.hello, on: server.events.opened[0])
                var answers = pongs.makeAsyncIterator()
                _ = await answers.next()
                var times: [Duration] = []
                for number in 0..<rounds {
                    let start = ContinuousClock.now
                    dialling.send(.ping(UInt64(number)), on: link)
                    _ = await answers.next()
                    times.append(ContinuousClock.now - start)
                }
                return times.sorted()
            }
        }
        echo.transport.withLock { $0 = nil }
        print("round trip of two messages: p50 \(times[rounds / 2]), p99 \(times[rounds * 99 / 100])")
        // Far above what it takes, and far below any timer or delayed acknowledgement (40 ms).
        #expect(times[rounds / 2] < .milliseconds(10))
    }
}
