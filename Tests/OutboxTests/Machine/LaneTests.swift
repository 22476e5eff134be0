import CRDT
import Outbox
import Testing

@Suite("Which mutation goes next")
struct LaneTests {
    private let other = JobID("jones") ?? Desk.job

    @Test("A lane sends one after the other, in the order in which they were asked for")
    func firstInFirstOut() {
        var desk = Desk()
        let tokens = (1...5).map { desk.ask(Note("\($0)", priority: UInt8($0))) }
        #expect(desk.sent == [tokens[0]])
        desk.accept(tokens[0])
        #expect(desk.sent == tokens && desk.companions(of: tokens[1]) == Array(tokens[1...]))
        for token in tokens[1...] { desk.accept(token) }
        #expect(desk.machine.queue == [])
        #expect(desk.machine.nextDeadline == nil)
    }

    @Test("A last-in-first-out lane sends the newest first")
    func lastInFirstOut() {
        var desk = Desk()
        let first = desk.ask(Newest())
        let second = desk.ask(Newest())
        let third = desk.ask(Newest())
        #expect(desk.sent == [first])
        desk.accept(first)
        #expect(desk.sent == [first, third, second])
    }

    @Test("Requests of a concurrent lane go together, and one that fails holds nobody up")
    func concurrent() {
        var desk = Desk()
        let tokens = (1...6).map { _ in desk.ask(Loose()) }
        #expect(desk.sent == Array(tokens[..<4]), "the bound over all")
        desk.reply(tokens[0], .tryAgain(status: 422, reason: "not yet"))
        desk.accept(tokens[1])
        #expect(desk.sent == tokens)
    }

    @Test("Across lanes the highest priority goes first, then the oldest")
    func priorities() throws {
        var desk = Desk(routeIsUp: false)
        let jobs = try ["a", "b", "c", "d", "e", "f"].map { try #require(JobID($0)) }
        let priorities: [UInt8] = [10, 200, 100, 200, 100, 255]
        var tokens: [MutationToken] = []
        for (job, priority) in zip(jobs, priorities) {
            tokens.append(desk.ask(Note(priority: priority), job: job))
            desk.now += 1
        }
        desk.route(true)
        for token in [5, 1, 3, 2, 4, 0].map({ tokens[$0] }) { desk.accept(token) }
        #expect(desk.sent == [5, 1, 3, 2, 4, 0].map { tokens[$0] })
    }

    @Test("What has an order goes one at a time, and beside it what has none")
    func oneAtATime() {
        var desk = Desk()
        let tokens = [desk.ask(Note("1")), desk.ask(Note("2"), job: other), desk.ask(Loose()), desk.ask(Loose())]
        #expect(desk.sent == [tokens[0]], "what comes behind one that has to wait does not overtake it")
        desk.accept(tokens[0])
        #expect(desk.sent == tokens)
    }

    @Test("A head that fails on its own keeps its place, and the lanes of other jobs go on")
    func stuckHead() {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        let elsewhere = desk.ask(Note("3"), job: other)
        desk.reply(first, .tryAgain(status: 422, reason: "not yet"))
        desk.accept(elsewhere)
        #expect(desk.sent == [first, elsewhere])
        #expect(desk.state(of: first) == .waiting)
        #expect(desk.state(of: second) == .behind)
        desk.pass(1_000)
        desk.accept(first)
        #expect(desk.sent == [first, elsewhere, first, second])
    }

    enum End: CaseIterable { case answered, published, withdrawn }

    @Test("A renewed replica that issues its requests again goes on where it was", arguments: End.allCases)
    func renewedReplica(end: End) {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        // The journal of the new name has them under other sequences; only the second one has come so far.
        let entry = desk.journals[1]
        let again = OutboxEntry(
            request: entry.request, job: entry.job, author: Desk.bert, sequence: 1, created: entry.created,
            isOwn: true)
        desk.carryOut(desk.machine.onRequest(again, now: desk.now, using: &desk.generator))
        #expect(desk.sent == [first], "its predecessor stands in a lane of another name, and goes first all the same")
        switch end {
        case .answered: desk.answer(first)
        case .published: desk.publish(first)
        case .withdrawn:
            desk.carryOut(desk.machine.onWithdrawn(first, now: desk.now, using: &desk.generator))
        }
        #expect(desk.sent == [first, second])
    }

    @Test("What is asked for again behind what follows it goes first all the same", arguments: [1, 3])
    func predecessorBehind(followers: Int) {
        var desk = Desk(routeIsUp: false)
        let first = desk.ask(Note("1"))
        let others = (0..<followers).map { desk.ask(Note("\($0 + 2)")) }
        // The branch on which the first one stood gave way, and its author has asked for it once more.
        let entry = desk.journals[0]
        let again = OutboxEntry(
            request: entry.request, job: entry.job, author: entry.author, sequence: UInt64(followers + 2),
            created: entry.created, isOwn: true)
        desk.carryOut(desk.machine.onRequest(again, now: desk.now, using: &desk.generator))
        #expect(desk.machine.queue.map(\.entry.token) == [first] + others)
        #expect(desk.machine.queue.map(\.state) == [.ready] + others.map { _ in .behind })
        desk.route(true)
        for token in [first] + others { desk.accept(token) }
        #expect(desk.sent == [first] + others)
    }

    /// The same request in another journal, as a renewed replica writes it.
    private func again(_ entry: OutboxEntry, author: ReplicaID, _ sequence: UInt64) -> OutboxEntry {
        OutboxEntry(
            request: entry.request, job: entry.job, author: author, sequence: sequence, created: entry.created,
            isOwn: true)
    }

    private func entry(_ token: UInt128, after: UInt128?, author: ReplicaID, _ sequence: UInt64) -> OutboxEntry {
        OutboxEntry(
            request: Note("\(token)").request(token: MutationToken(token), after: after.map { MutationToken($0) }),
            job: Desk.job, author: author, sequence: sequence, created: Stamp(rawValue: sequence), isOwn: true)
    }

    @Test("What follows itself through others goes all the same: only the server can end it")
    func circleOfTwo() {
        var desk = Desk()
        let (anna, bert) = (Desk.anna, Desk.bert)
        for one in [entry(1, after: 2, author: anna, 1), entry(2, after: 1, author: bert, 1)] {
            desk.carryOut(desk.machine.onRequest(one, now: desk.now, using: &desk.generator))
        }
        #expect(desk.sent.contains(MutationToken(1)))
        desk.answer(MutationToken(1), .rejected)
        desk.publish(MutationToken(1), .rejected)
        #expect(desk.sent.contains(MutationToken(2)), "nobody has to wait for it any more")
    }

    @Test("The same holds where a colleague's request stands between the two")
    func predecessorBehindThroughAnotherLane() {
        var desk = Desk(routeIsUp: false)
        let (old, renewed) = (ReplicaID(0xA0), ReplicaID(0xA1))
        for one in [
            entry(1, after: nil, author: old, 1), entry(2, after: 1, author: Desk.bert, 1),
            entry(3, after: 2, author: renewed, 1),
        ] {
            desk.carryOut(desk.machine.onRequest(one, now: desk.now, using: &desk.generator))
        }
        let moved = again(entry(1, after: nil, author: old, 1), author: renewed, 2)
        desk.carryOut(desk.machine.onRequest(moved, now: desk.now, using: &desk.generator))
        let tokens = [1, 2, 3].map { MutationToken($0) }
        #expect(desk.machine.queue.map(\.entry.token) == tokens)
        desk.route(true)
        for token in tokens { desk.accept(token) }
        #expect(desk.sent == tokens)
    }

    @Test("A request that has moved to another lane holds up whom it left, until it is answered, and is sent once")
    func movedAway() {
        var limits = OutboxLimits()
        limits.inExchange = 1
        var desk = Desk(routeIsUp: false, limits: limits)
        let (old, renewed) = (ReplicaID(0xA0), ReplicaID(0xA1))
        let first = entry(1, after: nil, author: old, 1)
        for one in [first, entry(2, after: 1, author: old, 2), entry(3, after: 2, author: old, 3)] {
            desk.carryOut(desk.machine.onRequest(one, now: desk.now, using: &desk.generator))
        }
        desk.carryOut(
            desk.machine.onRequest(again(first, author: renewed, 1), now: desk.now, using: &desk.generator))
        desk.route(true)
        #expect(desk.sent == [MutationToken(1)])
        desk.reply(MutationToken(1), .tryAgain(status: 422, reason: "not yet"))
        #expect(desk.sent == [MutationToken(1)], "its wait is its own, wherever it stands")
        desk.pass(1_000)
        for token in [1, 2, 3] as [UInt128] { desk.accept(MutationToken(token)) }
        #expect(desk.sent == [1, 1, 2, 3].map { MutationToken($0) })
    }

    @Test("What two laptops have issued again in two journals is one request after a restart, and holds nobody up")
    func issuedTwice() {
        var desk = Desk(routeIsUp: false)
        let (one, other) = (ReplicaID(0xA1), ReplicaID(0xA2))
        let first = entry(1, after: nil, author: one, 1)
        desk.journals = [first, entry(2, after: 1, author: one, 2), again(first, author: other, 1)]
        desk.records[MutationToken(1)] = OutboxRecord(token: MutationToken(1))
        desk.restart()
        for token in [1, 2] as [UInt128] { desk.accept(MutationToken(token)) }
        #expect(desk.sent == [1, 2].map { MutationToken($0) })
        #expect(desk.machine.queue.isEmpty)
    }

    @Test("Requests that wait for each other in a circle hold no other lane up")
    func circle() {
        var desk = Desk(routeIsUp: false)
        for (token, after) in [(11, 12), (12, 13), (13, 11)] as [(UInt128, UInt128)] {
            let request = Note("\(token)").request(token: MutationToken(token), after: MutationToken(after))
            let entry = OutboxEntry(
                request: request, job: Desk.job, author: Desk.bert, sequence: UInt64(token),
                created: Stamp(milliseconds: desk.now, counter: 0),
                isOwn: false)
            desk.carryOut(desk.machine.onRequest(entry, now: desk.now, using: &desk.generator))
        }
        desk.route(true)
        let sound = desk.ask(Note("sound"), job: other)
        #expect(desk.sent == [MutationToken(11)], "the server may reject it")
        desk.reply(MutationToken(11), .predecessorMissing(MutationToken(12)))
        desk.carryOut(desk.machine.onJournalBrought(Desk.job, Desk.bert, now: desk.now, using: &desk.generator))
        #expect(desk.sent.contains(sound))
    }

    @Test("Ten thousand requests of every kind of lane are drained, all of them once")
    func many() {
        var desk = Desk(routeIsUp: false)
        for number in 0..<10_000 {
            let job = JobID("job-\(number % 97)") ?? Desk.job
            switch number % 3 {
            case 0: desk.ask(Note("\(number)"), job: job, isOwn: false)
            case 1: desk.ask(Loose(), job: job, isOwn: false)
            default: desk.ask(Newest(), job: job, isOwn: false)
            }
        }
        desk.route(true)
        var next = 0
        while next < desk.sent.count {
            desk.accept(desk.sent[next])
            next += 1
        }
        #expect(desk.sent.count == 10_000)
        #expect(Set(desk.sent).count == 10_000)
        #expect(desk.machine.queue.isEmpty)
    }
}
