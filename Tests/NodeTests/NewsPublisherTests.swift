import LocalAPI
import Testing

@testable import Node

/// What becomes of requests, told as it happens.
@Suite(.timeLimit(.minutes(1)))
struct NewsPublisherTests {
    @Test("A request is told of when it is asked for, and when it is over")
    func queue() async throws {
        let anna = try await Laptop("anna")
        let job = try await anna.job("Smith", id: "Elm")
        let publisher = NewsPublisher(service: anna.service)
        await publisher.attach()
        // Of what was asked for before anybody listened nothing is told.
        let early = try await anna.job("Jones", id: "Oak")
        _ = try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: early)
        let events = try await anna.service.events(job: job, type: .queue, after: nil)
        let telling = Task { await publisher.tell() }
        let tokens = try await anna.service.advance(AdvanceRequest(state: "dispatched"), job: job).tokens
        var told: [QueueEntry] = []
        while told.count < tokens.count, case .queue(let entry)? = await events.event() { told.append(entry) }
        #expect(told.map(\.token) == tokens && told.allSatisfy { $0.job == job && $0.kind != "" })
        let last = try #require(tokens.last)
        _ = try await anna.service.drop(last)
        var over: QueueEntry.State?
        while over != .withdrawn, case .queue(let entry)? = await events.event() {
            if entry.token == last { over = entry.state }
        }
        #expect(over == .withdrawn)
        telling.cancel()
        await telling.value
    }

    @Test("A pause is told of, and its end, also while nothing waits")
    func pauses() async throws {
        let anna = try await Laptop("anna")
        let publisher = NewsPublisher(service: anna.service)
        await publisher.attach()
        let events = try await anna.service.events(job: nil, type: .pause, after: nil)
        let telling = Task { await publisher.tell() }
        _ = try await anna.service.pause(LaneRequest())
        guard case .pause(let paused)? = await events.event() else { return #expect(Bool(false), "no pause is told") }
        #expect(paused.isPaused)
        _ = try await anna.service.resume(LaneRequest())
        guard case .pause(let over)? = await events.event() else { return #expect(Bool(false), "no end is told") }
        #expect(!over.isPaused)
        telling.cancel()
        await telling.value
    }
}
