import Authorship
import CRDT
import Inventory
import Outbox
import Simulation
import Synchronization
import Testing

@testable import Storage

/// A request counts where its author has signed it; what else stands in the same journal counts all the same.
@Suite("Requests that are not their author's", .timeLimit(.minutes(1)))
struct ForgedRequestTests {
    private let bert = TestAuthor(9)
    private let member = TestAuthor(8)

    private var asked: MutationRequest { bert.asks(DecisionTests.request(1), for: Store.job) }

    private func change(_ request: MutationRequest, origin: ReplicaID? = nil) -> Change {
        Change(
            item: .job, stamp: Stamp(milliseconds: 2_000, counter: 0), origin: origin,
            operations: [.withdraw(MutationToken(77)), .request(request)])
    }

    /// With somewhere to look what it told.
    private func open(_ place: Place, _ name: String) async throws -> (store: Store, told: Told) {
        let (store, told) = (try await place.open(name, machine: name), Told())
        store.whenPassedOver { note in
            guard let forged = note as? ForgedRequests else { return }
            told.notes.withLock { $0.append(forged) }
        }
        return (store, told)
    }

    final class Told: Sendable {
        let notes = Mutex<[ForgedRequests]>([])
    }

    private func forgeries() -> [Change] {
        let asked = asked
        let other = MutationRequest(
            token: asked.token, lane: asked.lane, after: nil, priority: 9, kind: asked.kind, payload: asked.payload,
            signature: asked.signature)
        let unsigned = MutationRequest(
            token: asked.token, lane: asked.lane, after: nil, priority: 0, kind: asked.kind, payload: asked.payload)
        return [
            change(other, origin: bert.replica), change(unsigned), change(unsigned, origin: bert.replica),
            // The author's own words, of another job, or as if they were the member's.
            change(bert.asks(DecisionTests.request(1), for: JobID(ItemID(5))), origin: bert.replica), change(asked),
            // The member's own words, as if they were the author's.
            change(member.asks(DecisionTests.request(1), for: Store.job), origin: bert.replica),
        ]
    }

    @Test("They are kept and told of, nobody is asked for them, and the author's own counts afterwards")
    func forged() async throws {
        for (index, forgery) in forgeries().enumerated() {
            let place = try Place()
            let (anna, told) = try await open(place, "anna")
            let (carl, heard) = try await open(place, "carl")
            try await anna.put(5, "name", "Sofa")
            try await anna.hand(forgery, from: member, to: anna)
            #expect(try await anna.vector(of: Store.job)[member.replica].sequence == 2, "\(index)")
            _ = try await anna.send(to: carl)
            for (store, told) in [(anna, told), (carl, heard)] {
                #expect(try await store.pendingRequests(of: Store.job).isEmpty, "\(index)")
                #expect(try await store.outboxStart().entries.isEmpty, "\(index)")
                #expect(try await store.isWithdrawn(MutationToken(77), job: Store.job), "the rest of the change counts")
                let told = told.notes.withLock { $0 }
                #expect(told.map(\.journal) == [member.replica] && told.first?.job == Store.job, "\(index)")
                let decisions = try await store.timeline(of: Store.job, item: nil).rest().flatMap(\.decisions)
                #expect(decisions == [.withdrew(MutationToken(77))], "\(index)")
            }
            #expect(try await anna.exported() == carl.exported())
            try await anna.hand(change(asked), from: bert, to: anna)
            #expect(try await anna.pendingRequests(of: Store.job).map(\.request) == [asked])
            #expect(told.notes.withLock { $0.count } == 1)
        }
    }

    @Test("What is asked for here is signed, and stays so when the store takes another name or another key")
    func enqueued() async throws {
        let place = try Place()
        let (anna, told) = try await open(place, "anna")
        let (carl, heard) = try await open(place, "carl")
        var requests: [MutationRequest] = []
        for state in [nil, .dispatched, .inProgress] as [JobState?] {
            var batch = MutationBatch(job: Store.job)
            batch.createsJob = true
            if let state { batch.add(AdvanceState(to: state), using: &place.generator) }
            if state == nil { batch.add(OpenJob(name: "Smith", kind: .pickup), using: &place.generator) }
            requests += try await anna.enqueue(batch, now: { .known(1_000) }).entries.map(\.request)
            #expect(requests.last?.authorName == anna.identity.replica)
            _ = try await anna.renewDevice(to: TestSigner(UInt64(requests.count)), using: &place.generator)
        }
        #expect(Set(requests.map(\.signature.key)).count == 3)
        #expect(requests.allSatisfy { $0.isSigned(for: Store.job) })
        _ = try await anna.send(to: carl)
        for store in [anna, carl] {
            #expect(try await store.pendingRequests(of: Store.job).map(\.request) == requests)
        }
        #expect(told.notes.withLock { $0.isEmpty } && heard.notes.withLock { $0.isEmpty })
    }

    @Test("What a fork loses is written again with its author's signature, and what was forged stays so")
    func reissued() async throws {
        let place = try Place()
        let (anna, told) = try await open(place, "anna")
        let (carl, heard) = try await open(place, "carl")
        let request = asked
        let forgery = DecisionTests.request(3)
        func run(_ changes: [Change]) throws -> JournalSegment {
            try bert.segment(changes.flatMap(ChangeCodec.encode), of: Store.job)
        }
        let note = Change(
            item: ItemID(5), stamp: Stamp(milliseconds: 3_000, counter: 0),
            operations: [.append(list: "notes", entry: "scratched")])
        _ = try await anna.ingest(try run([change(request), change(forgery)]), job: Store.job, now: .anyTime)
        _ = try await anna.adoptBranch(
            try run([note]), job: Store.job, after: 0, now: .known(6_000), using: &place.generator)
        _ = try await anna.send(to: carl)
        for store in [anna, carl] {
            let pending = try await store.pendingRequests(of: Store.job)
            #expect(pending.map(\.request) == [request])
            #expect(pending.first?.dot.replica == anna.identity.replica && pending.first?.write.author == bert.replica)
        }
        #expect(told.notes.withLock { $0.map(\.tokens) } == [[forgery.token]])
        #expect(heard.notes.withLock { $0.map(\.journal) } == [anna.identity.replica])
    }

    @Test("A forgery on a branch that takes the place of another counts for nothing, and is told of once")
    func onABranch() async throws {
        let place = try Place()
        let (anna, told) = try await open(place, "anna")
        func run(_ last: Change) throws -> JournalSegment {
            let first = Change(
                item: ItemID(5), stamp: Stamp(milliseconds: 1_000, counter: 0),
                operations: [.set(field: "name", value: "Sofa", replaces: [])])
            return try bert.segment([first, last].flatMap(ChangeCodec.encode), of: Store.job)
        }
        _ = try await anna.ingest(try run(change(asked)), job: Store.job, now: .anyTime)
        let forgery = change(DecisionTests.request(3))
        _ = try await anna.adoptBranch(
            try await place.rest(of: run(forgery), from: 2), job: Store.job, after: 1, now: .known(6_000),
            using: &place.generator)
        #expect(try await anna.pendingRequests(of: Store.job).map(\.request) == [asked])
        #expect(told.notes.withLock { $0.map(\.tokens) } == [[MutationToken(3)]])
    }
}
