import LocalAPI
import Testing

@testable import muster

/// How long a command waits for a daemon that says nothing, and whose time that is.
@Suite("Idle timeout", .timeLimit(.minutes(1)))
struct IdleTimeoutTests {
    @Test("A stream whose heartbeats come is followed for longer than the timeout, and ends when they do not come")
    func heartbeats() async throws {
        for (heartbeat, isHeard) in [(Duration.milliseconds(300), true), (.seconds(30), false)] {
            try await withDaemon(try await Scene().answers, heartbeat: heartbeat) { socket in
                try await LocalClient.with(socketPath: socket, timeoutSeconds: 1) { client in
                    let following = Task { try await client.events(job: nil) { _ in } }
                    let waiting = Task {
                        try await Task.sleep(for: .seconds(3))
                        following.cancel()
                    }
                    let outcome = await following.result
                    waiting.cancel()
                    let failure = #expect(throws: (any Error).self) { try outcome.get() } as? APIError
                    #expect((failure?.code == .unavailable) == !isHeard, "\(heartbeat): \(outcome)")
                    if !isHeard { #expect(failure?.message.contains("has not answered for 1 s") == true) }
                }
            }
        }
    }

    @Test("What the reader of an answer takes for itself does not count")
    func slowReader() async throws {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket, timeoutSeconds: 1) { client in
                var bytes = 0
                try await client.export(job: OutputTests.job, format: .json) { piece in
                    try await Task.sleep(for: .seconds(2))
                    bytes += piece.count
                }
                #expect(bytes > 0)
            }
        }
    }

    @Test("A failure of whoever reads is not taken for one of the connection")
    func failedReader() async throws {
        struct Full: Error {}
        try await withDaemon(try await Scene().answers) { socket in
            let _: Full? = await #expect(throws: Full.self) {
                try await LocalClient.with(socketPath: socket) { client in
                    try await client.export(job: OutputTests.job, format: .json) { _ in throw Full() }
                }
            }
        }
    }
}
