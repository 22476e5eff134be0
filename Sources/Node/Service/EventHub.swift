import LocalAPI
import Synchronization

/// Hands events to everybody who listens.
///
/// A listener that is too slow loses the oldest `change` events; of `job` events each job's last one always comes.
final class EventHub: Sendable {
    private struct Listener {
        let job: String?
        let continuation: AsyncStream<Event>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
    }

    private static let bufferedEvents = 4096
    private let state = Mutex(State())

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    func subscribe(job: String?) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = Listener(job: job, continuation: continuation)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    func publish(_ event: Event) {
        let listeners = state.withLock { state in state.listeners.values.filter { $0.job == nil || $0.job == event.job } }
        for listener in listeners { listener.continuation.yield(event) }
    }

    /// Ends every stream.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
