package import LocalAPI
import Synchronization

/// An event with the id by which whoever lost the connection goes on (`Last-Event-ID`).
package struct SentEvent: Hashable, Sendable {
    /// Of one daemon's run; opaque to others.
    package let id: String
    /// What has happened.
    package let event: Event
}

/// Hands events to everybody who listens, and keeps the last 4,096 for who was away, from the first listener on.
///
/// Everybody gets every event, in one order, once. Who is more than 4,096 behind, and who was here in an earlier run, is told
/// so by a `reset`, in the place of what is not known any more.
package final class EventHub: Sendable {
    /// So many are kept.
    package static let kept = 4096

    private struct State {
        /// An event by its number, at its number modulo `kept`.
        var ring: [Event?] = []
        /// The number of the next one.
        var next: UInt64 = 1
        /// From which number on the events of a type are kept: since somebody has listened to them.
        var wanted: [EventType: UInt64] = [:]
        /// How many were kept since the last listener has gone.
        var unheard = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var listenerNumber = 0
        var hasFinished = false

        /// The number of the first that is kept.
        var oldest: UInt64 { next > UInt64(EventHub.kept) ? next - UInt64(EventHub.kept) : 1 }
    }

    /// A struct, because a function does not stand in a `Mutex` by itself: see ARCHITECTURE.md, "Threads".
    private struct Preparation {
        let perform: @Sendable () async -> Void
    }

    private let run: String
    private let state = Mutex(State())
    private let preparation = Mutex<Preparation?>(nil)

    /// - Parameter run: another one each time that the daemon starts.
    package init(run: UInt64) {
        self.run = String(run, radix: 16)
    }

    /// Somebody listens to events of the type, or may come back to them.
    package func wants(_ type: EventType) -> Bool { state.withLock { $0.wanted[type] != nil } }

    /// Somebody listens now.
    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Has somebody look at what is there before a listener is told that it listens: only then news can be told from it.
    package func beforeListening(_ perform: @escaping @Sendable () async -> Void) {
        preparation.withLock { $0 = Preparation(perform: perform) }
    }

    /// To be called when a listener has subscribed, before it is told so.
    package func prepare() async { await preparation.withLock { $0 }?.perform() }

    /// Begins to listen: nothing that is published from now on is missed.
    ///
    /// - Parameter last: the id of the last event that the listener has got; nil for one that begins now.
    package func subscribe(job: String?, type: EventType?, after last: String? = nil) -> EventSubscription {
        let types: Set<EventType> = type.map { [$0] } ?? Set(EventType.allCases)
        let (news, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (position, number): (UInt64?, Int?) = state.withLock { state in
            guard !state.hasFinished else { return (state.next, nil) }
            for type in types where state.wanted[type] == nil { state.wanted[type] = state.next }
            state.unheard = 0
            state.listenerNumber += 1
            state.listeners[state.listenerNumber] = continuation
            let position: UInt64? =
                if let last { self.position(after: last, of: types, state) } else { state.next }
            return (position, state.listenerNumber)
        }
        guard let number else {
            // The daemon would wait for whoever came just then.
            continuation.finish()
            return EventSubscription(self, news, continuation, job, types, at: position)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return EventSubscription(self, news, continuation, job, types, at: position)
    }

    /// Nil where what follows is not known any more, or never was.
    private func position(after id: String, of types: Set<EventType>, _ state: State) -> UInt64? {
        let parts = id.split(separator: "-")
        guard let number = parts.last.flatMap({ UInt64($0) }), self.id(number) == id else { return nil }
        guard number < state.next else { return nil }
        let isKept = number + 1 >= state.oldest && types.allSatisfy { number + 1 >= state.wanted[$0] ?? .max }
        return isKept ? number + 1 : nil
    }

    /// Hands an event to whoever listens to its type, and keeps it.
    package func publish(_ event: Event) {
        let listeners: [AsyncStream<Void>.Continuation] = state.withLock { state in
            // Who wants some of them has to know that some are missing.
            guard state.wanted[event.type] != nil || event == .reset && !state.wanted.isEmpty else { return [] }
            if state.ring.isEmpty { state.ring = Array(repeating: nil, count: Self.kept) }
            state.ring[Int(state.next % UInt64(Self.kept))] = event
            state.next += 1
            state.unheard = state.listeners.isEmpty ? state.unheard + 1 : 0
            // Nobody came back in time.
            if state.unheard == Self.kept { (state.ring, state.wanted, state.unheard) = ([], [:], 0) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield() }
    }

    /// The daemon stops.
    package var hasFinished: Bool { state.withLock { $0.hasFinished } }

    /// Ends every stream, once it has told what was published.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.hasFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// The first event that fits, from a position on, which moves behind it; nil when there is none yet. Without a position
    /// the listener is told to read anew, and goes on from here.
    fileprivate func take(
        _ position: inout UInt64?, job: String?, types: Set<EventType>
    ) -> SentEvent? {
        state.withLock { state in
            guard let from = position, from >= state.oldest else {
                position = state.next
                return SentEvent(id: id(state.next - 1), event: .reset)
            }
            var number = from
            defer { position = number }
            while number < state.next {
                let kept = state.ring[Int(number % UInt64(Self.kept))]
                number += 1
                guard let event = kept else { continue }
                if event == .reset || types.contains(event.type) && (job == nil || event.job == job) {
                    return SentEvent(id: id(number - 1), event: event)
                }
            }
            return nil
        }
    }

    private func id(_ number: UInt64) -> String { "\(run)-\(number)" }
}

/// One listener's place among the events; read by one task.
package final class EventSubscription: Sendable {
    /// What comes next.
    package enum Next: Hashable, Sendable {
        case event(SentEvent)
        /// Nothing happened; the listener is to hear that the connection stands.
        case heartbeat
    }

    private struct Place {
        var position: UInt64?
        var isHeartbeatDue = false
    }

    private let hub: EventHub
    private let news: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let job: String?
    private let types: Set<EventType>
    private let place: Mutex<Place>

    fileprivate init(
        _ hub: EventHub, _ news: AsyncStream<Void>, _ continuation: AsyncStream<Void>.Continuation, _ job: String?,
        _ types: Set<EventType>, at position: UInt64?
    ) {
        (self.hub, self.news, self.continuation, self.job, self.types) = (hub, news, continuation, job, types)
        place = Mutex(Place(position: position))
    }

    deinit { continuation.finish() }

    /// Nil when the daemon stops, or the task is cancelled.
    package func next() async -> Next? {
        while true {
            let next: Next? = place.withLock { place in
                if let event = hub.take(&place.position, job: job, types: types) { return .event(event) }
                defer { place.isHeartbeatDue = false }
                return place.isHeartbeatDue ? .heartbeat : nil
            }
            if let next { return next }
            var iterator = news.makeAsyncIterator()
            guard await iterator.next() != nil else { return nil }
        }
    }

    /// Has `next` return.
    package func beat() {
        place.withLock { $0.isHeartbeatDue = true }
        continuation.yield()
    }
}
