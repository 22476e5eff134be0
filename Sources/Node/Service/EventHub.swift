import LocalAPI
import Synchronization

/// Hands events to everybody who listens.
///
/// A listener that falls 4,096 events behind loses the oldest; the last events always come.
final class EventHub: Sendable {
    private struct Listener {
        let job: String?
        let type: EventType?
        let continuation: AsyncStream<Event>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
        var hasFinished = false
    }

    private static let bufferedEvents = 4096
    private let state = Mutex(State())

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Somebody wants to see the single changes.
    var hasChangeListeners: Bool { state.withLock { $0.listeners.values.contains { $0.type != .job } } }

    func subscribe(job: String?, type: EventType?) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let number: Int? = state.withLock { state in
            guard !state.hasFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = Listener(job: job, type: type, continuation: continuation)
            return state.next
        }
        guard let number else {
            // The daemon would wait for whoever came just then.
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    func publish(_ event: Event) {
        let listeners = state.withLock { state in
            state.listeners.values.filter { listener in
                (listener.job == nil || listener.job == event.job)
                    && (listener.type == nil || listener.type == event.type)
            }
        }
        for listener in listeners { listener.continuation.yield(event) }
    }

    /// The daemon stops.
    var hasFinished: Bool { state.withLock { $0.hasFinished } }

    /// Ends every stream.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.hasFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
