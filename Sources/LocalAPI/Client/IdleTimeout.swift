import AsyncHTTPClient
import Synchronization

/// How long a daemon may keep somebody waiting who reads an answer piece by piece. What the reader itself takes for a piece does not
/// count: a pager shows a screen for as long as a person likes.
final class IdleTimeout: Sendable {
    private let limit: Duration
    private let state = Mutex(State())

    private struct State {
        var waitingSince: ContinuousClock.Instant?
        var isExceeded = false
    }

    init(seconds: Int) { limit = .seconds(seconds) }

    var isExceeded: Bool { state.withLock(\.isExceeded) }

    /// Waits for the daemon.
    func waiting<Value>(_ body: () async throws -> Value) async throws -> Value {
        state.withLock { $0.waitingSince = .now }
        defer { state.withLock { $0.waitingSince = nil } }
        return try await body()
    }

    /// Ends all that a client waits for once the daemon has been silent for too long.
    func watch(_ http: HTTPClient) async {
        while !isExceeded {
            do { try await Task.sleep(for: limit / 10) } catch { return }
            state.withLock { state in
                state.isExceeded = state.waitingSince.map { ContinuousClock.now - $0 > limit } ?? false
            }
        }
        try? await http.shutdown()
    }
}
