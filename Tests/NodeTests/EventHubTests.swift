import LocalAPI
import LocalAPIServer
import Testing

@testable import Node

/// What a listener gets that was away.
@Suite(.timeLimit(.minutes(1)))
struct EventHubTests {
    private static func job(_ name: String, _ number: UInt64 = 0) -> Event {
        .job(JobAdvanced(job: name, vector: ["a": number]))
    }

    /// Everything that is there, and ends the hub.
    private static func rest(_ subscription: EventSubscription, of hub: EventHub) async -> [SentEvent] {
        hub.finish()
        var events: [SentEvent] = []
        while let next = await subscription.next() {
            if case .event(let sent) = next { events.append(sent) }
        }
        return events
    }

    @Test("Whoever comes back with the last id gets what came since, once, and in its order")
    func resumed() async throws {
        let hub = EventHub(run: 7)
        let first = hub.subscribe(job: nil, type: nil)
        for number in 1...5 { hub.publish(Self.job("Elm", UInt64(number))) }
        var last = ""
        for _ in 0..<2 {
            guard case .event(let sent)? = await first.next() else { return #expect(Bool(false)) }
            last = sent.id
        }
        hub.publish(Self.job("Elm", 6))
        let second = hub.subscribe(job: nil, type: nil, after: last)
        hub.publish(Self.job("Elm", 7))
        let got = await Self.rest(second, of: hub)
        #expect(got.map(\.event) == (3...7).map { Self.job("Elm", $0) })
        #expect(Set(got.map(\.id)).count == 5)
    }

    @Test("What nobody listens to any more is kept for who comes back, and not for ever")
    func kept() async throws {
        for (count, isKept) in [(EventHub.kept - 1, true), (EventHub.kept + 1, false)] {
            let hub = EventHub(run: 7)
            var first: EventSubscription? = hub.subscribe(job: nil, type: nil)
            hub.publish(Self.job("Elm"))
            guard case .event(let sent)? = await first?.next() else { return #expect(Bool(false)) }
            first = nil
            #expect(!hub.hasListeners)
            for number in 1...count { hub.publish(Self.job("Elm", UInt64(number))) }
            #expect(hub.wants(.job) == isKept)
            let got = await Self.rest(hub.subscribe(job: nil, type: nil, after: sent.id), of: hub)
            #expect(got.map(\.event) == (isKept ? (1...count).map { Self.job("Elm", UInt64($0)) } : [.reset]))
        }
    }

    @Test("Who listens to events of one type hears that some are missing, too")
    func partial() async throws {
        let hub = EventHub(run: 7)
        let listener = hub.subscribe(job: nil, type: .change)
        hub.publish(Self.job("Elm"))
        hub.publish(.reset)
        #expect(await Self.rest(listener, of: hub).map(\.event) == [.reset])
    }

    @Test("A listener that falls behind is told to read anew, and goes on", arguments: [1, 2, 3])
    func slow(times: Int) async throws {
        let hub = EventHub(run: 7)
        let listener = hub.subscribe(job: nil, type: nil)
        for number in 1...(EventHub.kept * times + 1) { hub.publish(Self.job("Elm", UInt64(number))) }
        guard case .event(let sent)? = await listener.next() else { return #expect(Bool(false)) }
        #expect(sent.event == .reset)
        hub.publish(Self.job("Oak"))
        #expect(await Self.rest(listener, of: hub).map(\.event) == [Self.job("Oak")])
    }

    @Test(
        "An id of another run, of no run, or of what is to come is answered with a reset",
        arguments: ["8-1", "x", "7-99", "7-", ""])
    func unknown(id: String) async throws {
        let hub = EventHub(run: 7)
        let first = hub.subscribe(job: nil, type: nil)
        hub.publish(Self.job("Elm"))
        let second = hub.subscribe(job: "Oak", type: .change, after: id)
        hub.publish(Self.job("Elm"))
        #expect(await Self.rest(second, of: hub).map(\.event) == [.reset])
        _ = first
    }

    @Test(
        "An id that was never given is told by a reset",
        arguments: ["", "x", "7", "7-", "7-2", "7-99", "7--1", "7-+1", "7-01", "8-1", "7-18446744073709551616"])
    func neverGiven(id: String) async throws {
        let hub = EventHub(run: 7)
        _ = hub.subscribe(job: nil, type: nil)
        hub.publish(Self.job("Elm"))
        let listener = hub.subscribe(job: nil, type: nil, after: id)
        #expect(await Self.rest(listener, of: hub).map(\.event) == [.reset])
    }

    @Test("After a reset its id is as good as any")
    func afterReset() async throws {
        let hub = EventHub(run: 7)
        let first = hub.subscribe(job: nil, type: nil, after: "8-1")
        guard case .event(let reset)? = await first.next() else { return #expect(Bool(false)) }
        hub.publish(Self.job("Elm"))
        #expect(
            await Self.rest(hub.subscribe(job: nil, type: nil, after: reset.id), of: hub).map(\.event) == [
                Self.job("Elm")
            ])
    }

    @Test("Of a type that nobody has listened to nothing was kept, and who comes back for it is told so")
    func otherType() async throws {
        let hub = EventHub(run: 7)
        let first = hub.subscribe(job: nil, type: .job)
        hub.publish(Self.job("Elm", 1))
        guard case .event(let sent)? = await first.next() else { return #expect(Bool(false)) }
        hub.publish(Self.job("Elm", 2))
        let all = hub.subscribe(job: nil, type: nil, after: sent.id)
        let jobs = hub.subscribe(job: nil, type: .job, after: sent.id)
        let got = await Self.rest(all, of: hub)
        #expect(got.map(\.event) == [.reset])
        #expect(await Self.rest(jobs, of: hub).map(\.event) == [Self.job("Elm", 2)])
    }

    @Test("A heartbeat comes when nothing has happened, and takes the place of no event")
    func heartbeat() async throws {
        let hub = EventHub(run: 7)
        let listener = hub.subscribe(job: nil, type: nil)
        listener.beat()
        #expect(await listener.next() == .heartbeat)
        hub.publish(Self.job("Elm"))
        listener.beat()
        guard case .event(let sent)? = await listener.next() else { return #expect(Bool(false)) }
        #expect(sent.event == Self.job("Elm"))
        #expect(await listener.next() == .heartbeat)
    }
}
