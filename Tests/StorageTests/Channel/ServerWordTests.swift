import CRDT
import Inventory
import Simulation
import Testing

@testable import Storage

/// What the server owns, as every store knows it from the journals.
@Suite("The server's word", .timeLimit(.minutes(1)))
struct ServerWordTests {
    private static func ask(_ request: MutationRequest, at milliseconds: UInt64) -> Change {
        Change(
            item: .job, stamp: Stamp(milliseconds: milliseconds, counter: 0), operations: [.request(request)])
    }

    @Test("Requests and answers reach everybody in the journals, in whatever order")
    func everybodyKnows() async throws {
        let place = try Place()
        let office = try await DecisionTests.office(place)
        let (anna, bert) = (try await place.open("anna"), try await place.open("bert"))
        try await anna.put(5, "name", "Sofa")
        let first = TestAuthor(9).asks(DecisionTests.request(1), for: Store.job)
        let second = TestAuthor(8).asks(DecisionTests.request(2), for: Store.job)
        try await anna.hand(Self.ask(first, at: 2_000), from: TestAuthor(9), to: anna)
        try await anna.hand(Self.ask(second, at: 2_001), from: TestAuthor(8), to: anna)
        #expect(try await anna.pendingRequests(of: Store.job).map(\.request) == [first, second])
        _ = try await anna.send(to: office)
        #expect(try await office.acknowledgeHeld(job: Store.job, now: .known(4_000)) != nil)
        #expect(try await office.acknowledgeHeld(job: Store.job, now: .known(4_000)) == nil, "nothing new to say")
        _ = try await office.decide(first, job: Store.job, now: .known(5_000), judge: DecisionTests.count)

        // The channel alone reaches bert first, the requests afterwards.
        let channel = try #require(
            try await office.segment(of: .channel, job: Store.job, from: 1, maximumBytes: .max))
        _ = try await bert.ingest(channel, job: Store.job, now: .anyTime)
        #expect(try await bert.outcome(of: first.token, job: Store.job)?.verdict == .accepted)
        _ = try await office.send(to: anna)
        _ = try await anna.send(to: bert)
        for store in [anna, bert, office] {
            #expect(try await store.pendingRequests(of: Store.job).map(\.request) == [second])
            let word = try await store.serverWord(on: Store.job)
            #expect(word.published == ["count": "1"])
            #expect(
                word.accepted.map(\.replica)
                    == [TestAuthor(8).replica, TestAuthor(9).replica, anna.identity.replica].sorted())
        }
        let timelines = [
            try await anna.timeline(of: Store.job, item: nil).rest(),
            try await bert.timeline(of: Store.job, item: nil).rest(),
            try await office.timeline(of: Store.job, item: nil).rest(),
        ]
        #expect(Set(timelines).count == 1)
        let decisions = timelines[0].flatMap(\.decisions)
        #expect(decisions.contains(.asked(first)) && decisions.contains(.asked(second)))
        #expect(decisions.contains(.decided(Outcome(token: first.token, verdict: .accepted))))
        #expect(decisions.contains(.published(PublishedValue(name: "count", value: "1"))))
        #expect(Set([try await anna.exported(), try await bert.exported(), try await office.exported()]).count == 1)
    }

    @Test(
        "The server's words in another journal than the channel's say nothing, whoever is said to have said them",
        arguments: [nil, ReplicaID.channel])
    func impostor(origin: ReplicaID?) async throws {
        let place = try Place()
        let anna = try await place.open("anna")
        try await anna.put(5, "name", "Sofa")
        var lie = Change(
            item: .job, stamp: Stamp(milliseconds: 2_000, counter: 0),
            operations: [
                .publish(PublishedValue(name: "state", value: "completed")),
                .outcome(Outcome(token: MutationToken(1), verdict: .accepted)),
            ])
        lie.origin = origin
        try await anna.hand(lie, from: TestAuthor(9), to: anna)
        #expect(try await anna.serverWord(on: Store.job).published.isEmpty)
        #expect(try await anna.outcome(of: MutationToken(1), job: Store.job) == nil)
        #expect(try await anna.timeline(of: Store.job, item: nil).rest().flatMap(\.decisions).isEmpty)
    }

    @Test(
        "Of two branches of a journal the store says where they part, and which stays; both ways alike",
        arguments: ["p", "q", "r", "s", "t", "u", "v", "w"])
    func divergence(other value: String) async throws {
        let place = try Place()
        let (anna, bert) = (try await DecisionTests.office(place, "one"), try await DecisionTests.office(place, "two"))
        func run(_ values: [String]) throws -> JournalSegment {
            let bytes = values.enumerated().flatMap { index, value in
                ChangeCodec.encode(
                    Change(
                        item: ItemID(5), stamp: Stamp(milliseconds: 1_000 + UInt64(index), counter: 0),
                        operations: [.set(field: "name", value: value, replaces: [])]))
            }
            return try TestAuthor(9).segment(bytes, of: Store.job)
        }
        let (left, right) = (try run(["a", "b", "c", "d"]), try run(["a", "b", value, "y"]))
        _ = try await anna.ingest(left, job: Store.job, now: .known(5_000))
        _ = try await bert.ingest(right, job: Store.job, now: .known(5_000))
        let one = try #require(try await anna.divergence(of: right, job: Store.job))
        let other = try #require(try await bert.divergence(of: left, job: Store.job))
        #expect(one.agreed == 2 && other.agreed == 2)
        #expect(one.staysHere != other.staysHere)
        // As two laptops decide it.
        let ranks = [
            try await anna.boundary(of: TestAuthor(9).replica, job: Store.job, at: 3)?.changeHash,
            try await bert.boundary(of: TestAuthor(9).replica, job: Store.job, at: 3)?.changeHash,
        ].compactMap(\.self)
        #expect(ranks.count == 2 && one.staysHere == (ranks[0] < ranks[1]))
        // A run that begins where they differ already does not show where.
        let tail = try #require(
            try await bert.segment(of: TestAuthor(9).replica, job: Store.job, from: 4, maximumBytes: .max))
        #expect(try await anna.divergence(of: tail, job: Store.job) == nil)
    }

    @Test("Jobs are listed in the order of their last change, and none is missed")
    func jobChanges() async throws {
        let place = try Place()
        let office = try await DecisionTests.office(place)
        func open(_ token: UInt128, _ job: UInt128) async throws {
            _ = try await office.decide(
                DecisionTests.request(token), job: JobID(ItemID(job)), now: .known(1_000), judge: DecisionTests.count)
        }
        for job in 1...3 as ClosedRange<UInt128> { try await open(job, job) }
        let all = try await office.jobChanges(since: nil, limit: 2)
        #expect(all.changes.map(\.job) == [JobID(ItemID(1)), JobID(ItemID(2))])
        try await open(11, 1)
        let rest = try await office.jobChanges(since: all.cursor, limit: 10)
        #expect(rest.changes.map(\.job) == [JobID(ItemID(3)), JobID(ItemID(1))])
        #expect(try await office.jobChanges(since: rest.cursor, limit: 10).changes.isEmpty)
        try await open(12, 1)
        #expect(try await office.jobChanges(since: rest.cursor, limit: 10).changes.map(\.job) == [JobID(ItemID(1))])
        for odd in ["", "nonsense", "ffffffffffff-3", "\(rest.cursor)9", "-"] {
            let page = try await office.jobChanges(since: odd, limit: 10)
            #expect(page.changes.count == 3 && page.isFromStart, "\(odd)")
        }
        #expect(all.isFromStart && !rest.isFromStart)
        // Set back meanwhile, it may have come to the same number by other changes.
        try office.close()
        let again = try await DecisionTests.office(place).jobChanges(since: rest.cursor, limit: 10)
        #expect(again.changes.count == 3 && again.isFromStart)
    }
}
