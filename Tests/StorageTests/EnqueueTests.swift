import CRDT
import Inventory
import Outbox
import Simulation
import Storage
import Testing

/// A laptop's side of requests: asked for, durably, with what belongs to them.
@Suite("Asking the server", .timeLimit(.minutes(1)))
struct EnqueueTests {
    private static func opening(_ place: Place, advancing states: [JobState] = []) -> MutationBatch {
        var batch = MutationBatch(job: Store.job)
        batch.createsJob = true
        batch.edits = [.put(item: .job, fields: [.init(field: JobProperty.name, value: "Smith")])]
        batch.add(OpenJob(name: "Smith", kind: .pickup), using: &place.generator)
        for state in states { batch.add(AdvanceState(to: state), using: &place.generator) }
        return batch
    }

    private static func advancing(_ place: Place, to state: JobState) -> MutationBatch {
        var batch = MutationBatch(job: Store.job)
        batch.add(AdvanceState(to: state), using: &place.generator)
        return batch
    }

    @Test("Edits, requests and records are one commit, in order, and survive the end of the program")
    func together() async throws {
        let place = try Place()
        var store = try await place.open()
        let asked = try await store.enqueue(Self.opening(place, advancing: [.dispatched]), now: { .known(1_000) })
        #expect(asked.commit.segment.first == 1)
        try store.close()
        store = try await place.open()
        let start = try await store.outboxStart()
        #expect(start.entries.map(\.token) == asked.tokens)
        #expect(start.entries.allSatisfy { $0.isOwn })
        #expect(Set(start.records.map(\.token)) == Set(asked.tokens))
        #expect(start.entries[1].request.after == asked.tokens[0])
        let overlay = try await store.overlay(of: Store.job)
        #expect(overlay.published.state == nil && overlay.shown.state == .dispatched)
        // The next one follows the last of its lane.
        let next = try await store.enqueue(Self.advancing(place, to: .inProgress), now: { .known(1_001) })
        #expect(try await store.request(next.tokens[0], job: Store.job)?.request.after == asked.tokens[1])
    }

    @Test("What the server would refuse is refused here, and nothing of it stays")
    func refused() async throws {
        let place = try Place()
        let store = try await place.open()
        _ = try await store.enqueue(Self.opening(place), now: { .known(1_000) })
        let before = try await store.vector(of: Store.job)
        var batch = Self.advancing(place, to: .completed)
        batch.edits = [.put(item: .job, fields: [.init(field: "room", value: "Hall")])]
        await #expect(throws: MutationRefusal.self) { try await store.enqueue(batch, now: { .known(1_001) }) }
        #expect(try await store.vector(of: Store.job) == before)
        #expect(try await store.outboxStart().records.count == 1)
    }

    @Test("What is known to come to nothing does not stand in the way of what is asked for next")
    func leftOut() async throws {
        let place = try Place()
        let store = try await place.open()
        let asked = try await store.enqueue(Self.opening(place, advancing: [.cancelled]), now: { .known(1_000) })
        let next = Self.advancing(place, to: .dispatched)
        await #expect(throws: MutationRefusal.self) { try await store.enqueue(next, now: { .known(1_001) }) }
        _ = try await store.enqueue(next, leavingOut: [asked.tokens[1]], now: { .known(1_002) })
        #expect(try await store.pendingRequests(of: Store.job).count == 3)
    }

    @Test("A job that nobody has opened is opened first, by its own name, and only once")
    func openedFirst() async throws {
        let place = try Place()
        let store = try await place.open()
        let fields = [
            Edit.FieldValue(field: JobProperty.name, value: "Smith"),
            Edit.FieldValue(field: JobProperty.kind, value: JobKind.pickup.rawValue),
        ]
        let edits = [Edit.put(item: .job, fields: fields)]
        let made = try await store.edit(job: Store.job, createsJob: true, now: { .known(999) }, edits)
        #expect(made.commit?.hasStatements == false)
        var batch = MutationBatch(job: Store.job)
        batch.openIfNeeded(using: &place.generator)
        batch.add(AdvanceState(to: .dispatched), using: &place.generator)
        let first = try await store.enqueue(batch, now: { .known(1_000) })
        #expect(first.commit.hasStatements)
        #expect(first.entries.map(\.request.kind) == [OpenJob.name, AdvanceState.name])
        #expect(first.entries[0].request.payload == OpenJob(name: "Smith", kind: .pickup).payload.bytes)
        #expect(first.entries[1].request.after == first.tokens[0])
        var next = MutationBatch(job: Store.job)
        next.openIfNeeded(using: &place.generator)
        next.add(AdvanceState(to: .inProgress), using: &place.generator)
        let second = try await store.enqueue(next, now: { .known(1_001) })
        #expect(second.entries.map(\.request.after) == [first.tokens[1]])
        // Another laptop hears of requests as such, and of the rest as such.
        let bert = try await place.open("bert", machine: "bert")
        let opened = try #require(made.commit)
        #expect(try await bert.ingest(opened.segment, job: Store.job, now: .anyTime).hasStatements == false)
        #expect(try await bert.ingest(first.commit.segment, job: Store.job, now: .anyTime).hasStatements)
    }

    @Test("A store that becomes another replica goes on with its own requests, in their lane")
    func renewed() async throws {
        let place = try Place()
        let store = try await place.open()
        let asked = try await store.enqueue(Self.opening(place), now: { .known(1_000) })
        try await store.renewReplica(store.identity.replica, using: &place.generator)
        let next = try await store.enqueue(Self.advancing(place, to: .dispatched), now: { .known(1_001) })
        #expect(try await store.request(next.tokens[0], job: Store.job)?.request.after == asked.tokens[0])
        #expect(try await store.outboxStart().entries.allSatisfy { $0.isOwn })
    }

    @Test("Who asks follows what it knows to be asked for, on whichever laptop, and its own in any case")
    func twoAuthors() async throws {
        let place = try Place()
        let anna = try await place.open("anna", machine: "anna")
        let bert = try await place.open("bert", machine: "bert")
        let opened = try await anna.enqueue(Self.opening(place, advancing: [.dispatched]), now: { .known(1_000) })
        _ = try await bert.ingest(opened.commit.segment, job: Store.job, now: .anyTime)
        let begun = try await bert.enqueue(Self.advancing(place, to: .inProgress), now: { .known(1_001) })
        #expect(try await bert.request(begun.tokens[0], job: Store.job)?.request.after == opened.tokens[1])
        // Anna asks for the same without knowing of that.
        let again = try await anna.enqueue(Self.advancing(place, to: .inProgress), now: { .known(1_002) })
        #expect(try await anna.request(again.tokens[0], job: Store.job)?.request.after == opened.tokens[1])
        _ = try await bert.ingest(again.commit.segment, job: Store.job, now: .anyTime)
        let next = try await bert.enqueue(Self.advancing(place, to: .awaitingSignature), now: { .known(1_003) })
        #expect(try await bert.request(next.tokens[0], job: Store.job)?.request.after == begun.tokens[0])
    }

    @Test("Only what is new since the last look is told; what is settled is not told as open")
    func news() async throws {
        let place = try Place()
        let store = try await place.open()
        let asked = try await store.enqueue(Self.opening(place, advancing: [.dispatched]), now: { .known(1_000) })
        let first = try await store.requestNews(of: Store.job, since: [:])
        #expect(first.entries == asked.entries && asked.entries.count == 2)
        #expect(try await store.requestNews(of: Store.job, since: first.mark).entries == [])
        let withdrawal = Withdrawal(token: asked.tokens[1], job: Store.job)
        _ = try await store.withdraw(withdrawal, now: { .known(1_001) })
        let second = try await store.requestNews(of: Store.job, since: first.mark)
        #expect(second.withdrawn == [asked.tokens[1]] && second.entries == [])
        #expect(try await store.requestNews(of: Store.job, since: [:]).entries.map(\.token) == [asked.tokens[0]])
        #expect(try await store.overlay(of: Store.job).shown.state == .scheduled)
    }

    @Test("A request on a branch that takes the place of another is news, though the journal is not longer")
    func adoptedBranch() async throws {
        let place = try Place()
        let store = try await place.open()
        func run(_ last: Change) throws -> JournalSegment {
            let first = Change(
                item: ItemID(5), stamp: Stamp(milliseconds: 1_000, counter: 0),
                operations: [.set(field: "name", value: "Sofa", replaces: [])])
            let bytes = ChangeCodec.encode(first) + ChangeCodec.encode(last)
            return try TestAuthor(9).segment(bytes, of: Store.job)
        }
        let stamp = Stamp(milliseconds: 2_000, counter: 0)
        let note = Change(item: ItemID(5), stamp: stamp, operations: [.append(list: "notes", entry: "scratched")])
        let asked = TestAuthor(9).asks(DecisionTests.request(1), for: Store.job)
        let request = Change(item: .job, stamp: stamp, operations: [.request(asked)])
        _ = try await store.ingest(try run(note), job: Store.job, now: .known(5_000))
        let mark = try await store.requestNews(of: Store.job, since: [:]).mark
        _ = try await store.adoptBranch(
            try run(request), job: Store.job, after: 0, now: .known(6_000), using: &place.generator)
        let news = try await store.requestNews(of: Store.job, since: mark)
        #expect(news.entries.map(\.token) == [asked.token])
        #expect(try await store.requestNews(of: Store.job, since: news.mark).entries.isEmpty)
    }
}
