import CRDT
import Outbox
import Storage
import Testing

@Suite("What the outbox remembers survives a restart", .timeLimit(.minutes(1)))
struct OutboxStoreTests {
    private func record(_ token: UInt128, _ change: (inout OutboxRecord) -> Void = { _ in }) -> OutboxRecord {
        var record = OutboxRecord(token: MutationToken(token))
        change(&record)
        return record
    }

    @Test("Records of every shape, pauses and the server's wish come back as they were")
    func roundTrip() async throws {
        let place = try Place()
        let records = [
            record(1),
            record(2) {
                $0.attempts = 7
                $0.failures = 3
                $0.wait = Wait(since: 5_000, milliseconds: 120_000, cause: .serverBackOff)
                $0.lastError = "broken"
            },
            record(3) { $0.state = .answered(.accepted) },
            record(4) { $0.state = .rejected("The job is completed.") },
        ]
        var standing = OutboxStanding()
        standing.isPaused = true
        standing.pausedLanes = [LaneID(job: try #require(JobID("smith")), name: "state")]
        standing.rest = OutboxStanding.Rest(
            wait: Wait(since: 9_000, milliseconds: 900_000, cause: .unauthorised), failures: 2)
        let store = try await place.open()
        try await store.remember(records.map { .record($0) } + [.standing(standing)])
        try store.close()
        let again = try await place.open()
        let memory = try await again.outboxMemory()
        #expect(memory.records == records && memory.standing == standing)
        try await again.remember([.forget(MutationToken(2)), .standing(OutboxStanding())])
        let later = try await again.outboxMemory()
        #expect(later.records.map(\.token.value) == [1, 3, 4] && later.standing == OutboxStanding())
        try again.close()
    }

    @Test("The log of attempts is bounded and keeps the newest")
    func boundedLog() async throws {
        let place = try Place()
        let store = try await place.open()
        for number in 1...10 {
            let event = AttemptEvent(
                token: MutationToken(1), attempt: number, began: UInt64(number), nextAttempt: nil,
                durationMilliseconds: 20, outcome: .tryAgain, status: 500, detail: "broken")
            try await store.remember(
                [.attempt(LoggedAttempt(event: event, at: UInt64(number), next: nil))], logLimit: 4)
        }
        #expect(try await store.attempts(last: 100).map(\.event.attempt) == [7, 8, 9, 10])
        #expect(try await store.attempts(last: 2).map(\.event.attempt) == [9, 10])
        try store.close()
    }
}
