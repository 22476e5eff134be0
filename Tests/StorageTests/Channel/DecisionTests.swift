import CRDT
import Inventory
import Outbox
import Simulation
import Storage
import Testing

/// The server's store, as the channel of a job.
@Suite("Decisions", .timeLimit(.minutes(1)))
struct DecisionTests {
    static func request(
        _ token: UInt128, after: UInt128? = nil, kind: String = "advanceState", payload: String = "{}"
    ) -> MutationRequest {
        MutationRequest(
            token: MutationToken(token), lane: "state", after: after.map { MutationToken($0) }, priority: 0,
            kind: kind, payload: Array(payload.utf8))
    }

    static func office(_ place: Place, _ name: String = "office", key: UInt64 = 99) async throws -> Store {
        let store = try Store.open(
            path: place.path(name), machine: "server", hostName: "office", role: .channel,
            upgrade: StoreUpgrade(program: "1.0.0"), generator: &place.generator)
        try await store.takeUp(TestSigner(key), using: &place.generator)
        return store
    }

    /// Accepts, and publishes how often it was asked.
    static func count(_ published: [FieldName: String]) -> MutationEvaluation {
        let count = (published["count"].flatMap { Int($0) } ?? 0) + 1
        return .accept([PublishedValue(name: "count", value: String(count))])
    }

    @Test("A request has one effect, however often it is delivered and across restarts")
    func onceOnly() async throws {
        let place = try Place()
        var store = try await Self.office(place)
        for attempt in 1...3 {
            let decision = try await store.decide(
                Self.request(1), job: Store.job, now: .known(1_000), judge: Self.count
            ).get()
            #expect(decision.outcome == Outcome(token: MutationToken(1), verdict: .accepted))
            #expect((decision.commit != nil) == (attempt == 1))
            try store.close()
            store = try await Self.office(place)
        }
        let word = try await store.serverWord(on: Store.job)
        #expect(word.published == ["count": "1"])
        #expect(store.identity.replica == .channel)
        // The preamble, the publication and the outcome.
        #expect(word.head == 3)
    }

    @Test("Deliveries at the same time have one effect")
    func concurrentDeliveries() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let effects = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await store.decide(
                        Self.request(1), job: Store.job, now: .known(1_000), judge: Self.count
                    ).get().commit != nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(effects == 1)
        #expect(try await store.serverWord(on: Store.job).published == ["count": "1"])
    }

    @Test("A lane's order is kept: nothing is decided before what it follows")
    func laneOrder() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        func decide(_ request: MutationRequest) async throws -> Result<Decision, DecisionObstacle> {
            try await store.decide(request, job: Store.job, now: .known(1_000), judge: Self.count)
        }
        #expect(try await decide(Self.request(2, after: 1)) == .failure(.predecessorMissing(MutationToken(1))))
        #expect(try await store.vectors().isEmpty, "a refused request leaves no job behind")
        _ = try await store.decide(Self.request(1), job: Store.job, now: .known(1)) { _ in .reject("Not today.") }
        #expect(try await store.outcome(of: MutationToken(1), job: Store.job)?.verdict == .rejected)
        let second = try await decide(Self.request(2, after: 1)).get()
        #expect(second.outcome.verdict == .accepted, "a rejected predecessor is decided, too")
        #expect(try await decide(Self.request(2, after: nil)) == .failure(.tokenReused))
        #expect(
            try await store.decide(
                Self.request(2, after: 1), job: JobID(ItemID(5)), now: .known(1), judge: Self.count)
                == .failure(.tokenReused))
    }

    @Test("Requests that come together are decided in their order, up to the first that cannot be")
    func together() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let other = JobID(ItemID(5))
        func decide(_ delivered: [Delivery]) async throws -> Decisions {
            try await store.decide(delivered, now: .known(1_000)) { Self.count($1) }
        }
        let list = [
            Delivery(request: Self.request(1), job: Store.job),
            Delivery(request: Self.request(7), job: other),
            Delivery(request: Self.request(2, after: 1), job: Store.job),
            Delivery(request: Self.request(4, after: 3), job: Store.job),
            Delivery(request: Self.request(8, after: 7), job: other),
        ]
        let decisions = try await decide(list)
        #expect(decisions.made.count == 3 && decisions.obstacle == .predecessorMissing(MutationToken(3)))
        #expect(try await store.serverWord(on: Store.job).published == ["count": "2"])
        #expect(try await store.outcome(of: MutationToken(8), job: other) == nil, "nobody looked at it")
        // A repetition has no second effect, alone or in other company, and the same token twice has one.
        let again = try await decide([list[4], list[0], list[4]])
        #expect(again.made.count == 3 && again.obstacle == nil)
        #expect(try await store.serverWord(on: other).published == ["count": "2"])
        #expect(try await store.serverWord(on: Store.job).published == ["count": "2"])
        // What fails undoes all that it came with.
        struct Failure: Error {}
        await #expect(throws: StoreError.self) {
            try await store.decide(
                [5, 6].map { Delivery(request: Self.request($0), job: Store.job) }, now: .known(1_000)
            ) { one, published in
                if one.request.token == MutationToken(6) { throw Failure() }
                return Self.count(published)
            }
        }
        #expect(try await store.outcome(of: MutationToken(5), job: Store.job) == nil)
    }

    @Test("Of requests that come together none is decided when one cannot be written, and later each is decided once")
    func fullDisk() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let list = (1...20).map { number in
            let job = JobID(ItemID(UInt128(number % 3 + 1)))
            return Delivery(request: Self.request(UInt128(number)), job: job)
        }
        let wide = String(repeating: "x", count: 60_000)
        func decide() async throws -> Decisions {
            try await store.decide(list, now: .known(1_000)) { one, published in
                let count = (published["count"].flatMap { Int($0) } ?? 0) + 1
                return .accept([
                    PublishedValue(name: "count", value: String(count)),
                    PublishedValue(name: "note", value: "\(one.request.token) \(wide)"),
                ])
            }
        }
        try await store.limit(toFurtherPages: 100)
        await #expect { try await decide() } throws: { ($0 as? StoreError)?.code == .diskFull }
        #expect(try await store.vectors().isEmpty, "not even the first, for which there was room")
        try await store.limit(toFurtherPages: 10_000)
        for attempt in 1...2 {
            let made = try await decide().made
            #expect(made.count == list.count && made.allSatisfy { ($0.commit != nil) == (attempt == 1) })
        }
        for number in 1...3 {
            let word = try await store.serverWord(on: JobID(ItemID(UInt128(number))))
            #expect(word.published["count"] == (number == 1 ? "6" : "7"))
        }
        #expect(try await store.integrityProblems().isEmpty)
    }

    @Test("A token that comes twice in one list has one effect, and another request under it ends the list")
    func repeatedInList() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let one = Delivery(request: Self.request(1), job: Store.job)
        let elsewhere = Delivery(request: Self.request(1), job: JobID(ItemID(5)))
        let decisions = try await store.decide([one, one, elsewhere, one], now: .known(1_000)) { Self.count($1) }
        #expect(decisions.made.map { $0.commit != nil } == [true, false] && decisions.obstacle == .tokenReused)
        #expect(Set(decisions.made.map(\.outcome)).count == 1)
        #expect(try await store.serverWord(on: Store.job).published == ["count": "1"])
    }

    @Test("What was taken back within a list is not carried out, and those around it are")
    func withdrawnInList() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let change = Change(
            item: .job, stamp: Stamp(milliseconds: 2_000, counter: 0), operations: [.withdraw(MutationToken(2))])
        let laptop = try await place.open()
        try await laptop.put(5, "name", "Sofa")
        try await laptop.hand(change, from: TestAuthor(9), to: store)
        let list = (1...3).map { number in
            let after = number > 1 ? UInt128(number - 1) : nil
            return Delivery(request: Self.request(UInt128(number), after: after), job: Store.job)
        }
        let decisions = try await store.decide(list, now: .known(3_000)) { Self.count($1) }
        #expect(decisions.made.map(\.outcome.verdict) == [.accepted, .withdrawn, .accepted])
        #expect(try await store.serverWord(on: Store.job).published == ["count": "2"])
    }

    @Test("What follows in the channels of many jobs is little more together than of one alone")
    func channelsTogether() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        let jobs = (1...8).map { JobID(ItemID($0)) }
        let wide = String(repeating: "x", count: 60_000)
        for token in 1...80 as ClosedRange<UInt128> {
            let one = Delivery(request: Self.request(token), job: jobs[Int(token) % 8])
            _ = try await store.decide([one], now: .known(1_000)) { _, _ in
                .accept([PublishedValue(name: "note", value: wide)])
            }
        }
        let asked = jobs.map { Delivery(request: Self.request(1), job: $0, knownChannel: 0) }
        let runs = try await store.channelRuns(for: asked, limit: 1_000).map(\.run)
        let sizes = runs.map { $0.segment?.bytes.count ?? 0 }
        #expect(runs.count == 8 && sizes.allSatisfy { $0 > 0 })
        #expect(sizes.reduce(0, +) < (512 << 10) + 8 * 61_000)
        for few in try await store.channelRuns(for: asked, limit: 16).map(\.run) {
            #expect(try ChangeCodec.decodeAll(few.segment?.bytes ?? []).count == 2)
        }
        // Each is a run that continues: what is asked for behind it is the rest.
        for (job, run) in zip(jobs, runs) {
            var (head, count) = (run.segment?.head.sequence ?? 0, 0)
            while let next = try await store.channelRun(of: job, after: head, limit: 1_000).segment {
                #expect(next.first == head + 1)
                (head, count) = (next.head.sequence, count + 1)
            }
            #expect(head == run.head && count > 0)
        }
    }

    @Test("What a sender holds of a channel it may say with any of its requests; the first word counts")
    func knownOnce() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        _ = try await store.decide(Self.request(1), job: Store.job, now: .known(1_000), judge: Self.count)
        for (said, first) in [([nil], nil), ([1, nil], 2), ([nil, 1], 2), ([1, 0], 2)] as [([UInt64?], UInt64?)] {
            let asked = said.map { Delivery(request: Self.request(1), job: Store.job, knownChannel: $0) }
            let runs = try await store.channelRuns(for: asked, limit: 1_000)
            #expect(runs.map(\.run.segment?.first) == [first].compactMap(\.self), "\(said)")
        }
    }

    // What it follows may have gone with the job: every laptop asked again and again, for ever.
    @Test("A request about a job that has ended is rejected, whatever came before it")
    func ofRemovedJob() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        var generator = SeededGenerator(seed: 1)
        let removal = JobRemoval(name: "Elm Street", heads: VersionVector())
        _ = try await store.takeRemoval(removal, of: Store.job, now: .known(1_000), using: &generator)
        let decision = try await store.decide(
            Self.request(2, after: 1), job: Store.job, now: .known(2_000), judge: Self.count
        ).get()
        #expect(decision.outcome.verdict == .rejected)
    }

    @Test("What was taken back is not carried out, and nobody waits for it", arguments: [true, false])
    func withdrawal(inJournal: Bool) async throws {
        let place = try Place()
        let (laptop, store) = (try await place.open(), try await Self.office(place))
        if inJournal {
            try await laptop.put(5, "name", "Sofa")
            let change = Change(
                item: .job, stamp: Stamp(milliseconds: 2_000, counter: 0), operations: [.withdraw(MutationToken(1))])
            try await laptop.hand(change, from: TestAuthor(9), to: store)
        } else {
            let withdrawn = try await store.withdraw(MutationToken(1), job: Store.job, now: .known(1_000))
            #expect(withdrawn.outcome.verdict == .withdrawn)
        }
        for (request, verdict) in [
            (Self.request(2, after: 1), Outcome.Verdict.accepted), (Self.request(1), .withdrawn),
        ] {
            let decision = try await store.decide(request, job: Store.job, now: .known(3_000), judge: Self.count)
            #expect(try decision.get().outcome.verdict == verdict)
        }
        #expect(try await store.serverWord(on: Store.job).published == ["count": "1"])
    }

    @Test("What has an outcome cannot be taken back")
    func lateWithdrawal() async throws {
        let place = try Place()
        let store = try await Self.office(place)
        _ = try await store.decide(Self.request(1), job: Store.job, now: .known(1_000), judge: Self.count)
        let withdrawn = try await store.withdraw(MutationToken(1), job: Store.job, now: .known(1_000))
        #expect(withdrawn.outcome.verdict == .accepted && withdrawn.commit == nil)
    }

    @Test("A laptop's store is never opened as the server's, nor the other way round")
    func roles() async throws {
        let place = try Place()
        try await place.open("laptop").close()
        try await Self.office(place).close()
        await #expect(throws: StoreError.self) { try await Self.office(place, "laptop") }
        await #expect(throws: StoreError.self) { try await place.open("office") }
        // Moved to another machine it is still the channel.
        let moved = try Store.open(
            path: place.path("office"), machine: "other", hostName: "office", role: .channel,
            upgrade: StoreUpgrade(program: "1.0.0"), generator: &place.generator)
        #expect(moved.identity.replica == .channel && moved.wasCopied)
    }
}

extension Store {
    /// Decides one request alone.
    func decide(
        _ request: MutationRequest, job: JobID, now: ReceiveTime,
        judge: @escaping @Sendable ([FieldName: String]) throws -> MutationEvaluation
    ) async throws -> Result<Decision, DecisionObstacle> {
        let decisions = try await decide([Delivery(request: request, job: job)], now: now) { try judge($1) }
        return try decisions.obstacle.map { .failure($0) } ?? .success(#require(decisions.made.first))
    }

    /// Brings one change to `other` as the journal of somebody.
    func hand(_ change: Change, from author: TestAuthor, to other: Store) async throws {
        let segment = try author.segment(ChangeCodec.encode(change), of: Self.job)
        _ = try await other.ingest(segment, job: Self.job, now: .anyTime)
    }
}
