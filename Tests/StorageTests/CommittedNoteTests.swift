import CRDT
import Inventory
import Outbox
import Simulation
import Storage
import Synchronization
import Testing

/// What a store tells of its own work, without being asked to.
@Suite("What is told of commits", .timeLimit(.minutes(1)))
struct CommittedNoteTests {
    private final class Listener: Sendable {
        private let notes = Mutex<[CommittedNote]>([])

        init(to store: Store) {
            store.whenCommitted { [self] note in notes.withLock { $0.append(note) } }
        }

        func take() -> [CommittedNote] {
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }
    }

    private static func edit(_ item: UInt128, _ value: String) -> Edit {
        .put(item: ItemID(item), fields: [.init(field: "name", value: value)])
    }

    @Test("Each commit once, in the order of the journal, also of those that share a transaction")
    func inOrder() async throws {
        let place = try Place()
        defer { withExtendedLifetime(place) {} }
        let store = try await place.open()
        let listener = Listener(to: store)
        try await withThrowingTaskGroup { group in
            for item in 1...40 as ClosedRange<UInt128> { group.addTask { try await store.put(item, "name", "x") } }
            try await group.waitForAll()
        }
        let notes = listener.take()
        #expect(notes.count == 40)
        var next: UInt64 = 1
        for note in notes {
            #expect(note.commit.segment.first == next && !note.isKnownToOutbox)
            next = note.commit.segment.head.sequence + 1
        }
        #expect(try await store.vector(of: Store.job)[store.identity.replica] == notes.last?.commit.segment.head)
    }

    @Test("Nothing of what is undone: a refusal, a commit that fails")
    func undone() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1), generator: &generator)
        try await store.put(1, "name", "Sofa")
        let listener = Listener(to: store)
        await #expect(throws: EditRefusal.self) {
            try await store.edit(
                job: Store.job, requires: .known, isAllOrNothing: true, nowMilliseconds: 2_000,
                [Self.edit(1, "Couch"), Self.edit(2, "Lamp")])
        }
        store.setDiskFull(true)
        await #expect(throws: StoreError.self) { try await store.put(1, "name", "Couch") }
        store.setDiskFull(false)
        #expect(listener.take().isEmpty)
        _ = try await store.edit(
            job: Store.job, requires: .known, nowMilliseconds: 2_000, [Self.edit(1, "Couch"), Self.edit(2, "Lamp")])
        #expect(listener.take().count == 1, "what was not refused is told")
    }

    @Test("Edits and the requests that belong to them together, known to whoever asked; a withdrawal is news to them")
    func requests() async throws {
        let place = try Place()
        let store = try await place.open()
        let listener = Listener(to: store)
        var batch = MutationBatch(job: Store.job)
        batch.createsJob = true
        batch.edits = [.put(item: .job, fields: [.init(field: JobProperty.name, value: "Smith")])]
        batch.add(OpenJob(name: "Smith", kind: .pickup), using: &place.generator)
        let asked = try await store.enqueue(batch, now: { .known(1_000) })
        let note = try #require(listener.take().first)
        #expect(note.commit == asked.commit && note.isKnownToOutbox && note.commit.hasStatements)
        let withdrawn = try await store.withdraw(
            Withdrawal(token: asked.tokens[0], job: Store.job), now: { .known(1_001) })
        let news = listener.take()
        #expect(news.map(\.commit) == [withdrawn] && news.allSatisfy { !$0.isKnownToOutbox })
    }

    @Test("The end of a job once, late work that is taken over in both jobs; not what peers bring")
    func removal() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        try await anna.put(1, "name", "Sofa")
        _ = try await anna.send(to: bert)
        try await bert.put(2, "name", "Lamp")
        let listener = Listener(to: anna)
        let removed = try await anna.removeJob(Store.job, now: .known(2_000))
        #expect(listener.take().map(\.commit) == [removed.commit])
        _ = try await bert.send(to: anna)
        #expect(listener.take().isEmpty)
        let late = try await anna.lateChanges(of: Store.job).map(\.dot)
        let commits = try await anna.acceptLate(late, of: Store.job, now: .known(3_000))
        #expect(Set(commits.map(\.job)).count == 2)
        #expect(listener.take().map(\.commit) == commits)
    }
}
