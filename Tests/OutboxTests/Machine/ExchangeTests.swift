import CRDT
import Outbox
import Simulation
import Testing

@Suite("Several requests in one exchange")
struct ExchangeTests {
    private let other = JobID("jones") ?? Desk.job

    /// Requests of some jobs with and without priority, and how many of them are followers in their lanes.
    private func ask(_ count: Int, seed: UInt64, at desk: inout Desk) {
        var chance = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let job = JobID("job-\(Int.random(in: 0..<7, using: &chance))") ?? Desk.job
            desk.now += UInt64.random(in: 0...2, using: &chance)
            let author = chance.oneIn(2) ? Desk.anna : Desk.bert
            let priority = UInt8.random(in: 1...3, using: &chance)
            if chance.oneIn(5) {
                desk.ask(Newest(), job: job, author: author)
            } else {
                desk.ask(Note("n", priority: priority), job: job, author: author)
            }
        }
    }

    private func limits(together: Int) -> OutboxLimits {
        var limits = OutboxLimits()
        limits.inExchange = together
        return limits
    }

    private func acceptAll(_ desk: inout Desk) {
        var next = 0
        while next < desk.sent.count {
            desk.accept(desk.sent[next])
            next += 1
        }
    }

    @Test("They are those that go one after the other otherwise, in that order", arguments: UInt64(0)..<100)
    func sameOrder(seed: UInt64) {
        var alone = Desk(routeIsUp: false, limits: limits(together: 1))
        var together = Desk(routeIsUp: false)
        for index in 0..<2 {
            var desk = index == 0 ? alone : together
            ask(100, seed: seed, at: &desk)
            let listed = desk.machine.queue.map(\.entry.token)
            desk.route(true)
            acceptAll(&desk)
            #expect(desk.sent == listed, "seed \(seed)")
            #expect(desk.machine.queue.isEmpty)
            if index == 0 { alone = desk } else { together = desk }
        }
        #expect(alone.sent == together.sent, "seed \(seed)")
        #expect(alone.exchanges.count == 100 && together.exchanges.count == 4)
    }

    @Test("What another author's request holds back goes behind it in the same exchange")
    func throughLanes() {
        var desk = Desk(routeIsUp: false)
        let (first, second) = (desk.ask(Note("1", priority: 1)), desk.ask(Note("2", priority: 9), author: Desk.bert))
        let request = Note("3", priority: 8).request(token: MutationToken(9), after: first)
        let held = OutboxEntry(
            request: request, job: Desk.job, author: Desk.bert, sequence: 9,
            created: Stamp(milliseconds: desk.now, counter: 0), isOwn: true)
        desk.carryOut(desk.machine.onRequest(held, now: desk.now, using: &desk.generator))
        let last = desk.ask(Note("4", priority: 0), job: other)
        desk.route(true)
        #expect(desk.companions(of: first) == [second, first, MutationToken(9), last])
    }

    @Test("What the server did not come to goes again at once, and no failure of it is counted")
    func inPart() {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...4).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.reply(tokens[0], .decided(tokens[..<2].map { Outcome(token: $0, verdict: .accepted) }))
        #expect(desk.companions(of: tokens[2]) == Array(tokens[2...]))
        #expect(desk.records[tokens[3]]?.failures == 1 && desk.records[tokens[3]]?.attempts == 2)
        #expect(desk.log.map(\.outcome) == [.accepted, .accepted, .cancelled, .cancelled])
        // Its late answer counts all the same, and what is under way goes on.
        desk.reply(tokens[2], .decided(tokens.map { Outcome(token: $0, verdict: .accepted) }), in: 1)
        #expect(desk.machine.queue.map(\.state) == tokens.map { _ in .answered })
        #expect(desk.cancelled == Array(tokens[2...]))
    }

    @Test(
        "What fails as a whole counts against each once, and each goes alone from then on",
        arguments: [
            OutboxMachine.Reply.tryAgain(status: 500, reason: "broken"), .answerLost(reason: "reset"),
            .tryAgain(status: 422, reason: "malformed"), .predecessorMissing(nil),
            .serverBusy(status: 500, retryAfterMilliseconds: 7_000),
        ])
    func wholeFailure(reply: OutboxMachine.Reply) {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...3).map { desk.ask(Note("\($0)")) } + (1...3).map { desk.ask(Note("\($0)"), job: other) }
        desk.route(true)
        desk.reply(tokens[0], reply)
        desk.pass(12_000)
        #expect(desk.records.values.allSatisfy { $0.failures == 1 || $0.token == tokens[0] && $0.failures == 2 })
        let late = desk.ask(Note("late"), job: other)
        for token in tokens {
            #expect(desk.companions(of: token) == [token])
            desk.accept(token)
        }
        #expect(desk.sent == tokens + tokens + [late])
    }

    @Test(
        "Where the server was not reached, did not listen or was busy, all go in company again",
        arguments: [
            OutboxMachine.Reply.unauthorised, .unreachable(reason: "no route"),
            .serverBusy(status: 429, retryAfterMilliseconds: nil),
            .serverBusy(status: 503, retryAfterMilliseconds: 7_000),
        ])
    func uncounted(reply: OutboxMachine.Reply) {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...3).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.reply(tokens[0], reply)
        #expect(desk.records.values.allSatisfy { $0.failures == 0 })
        desk.carryOut(desk.machine.onCredentials(now: desk.now, using: &desk.generator))
        desk.pass(10_000)
        #expect(desk.companions(of: tokens[0]) == [tokens[0]], "one finds out")
        desk.accept(tokens[0])
        #expect(desk.companions(of: tokens[1]) == Array(tokens[1...]))
    }

    @Test("Whom the others did not follow went alone: what the server says is about that one")
    func leftAlone() {
        var desk = Desk(routeIsUp: false)
        let tokens = [desk.ask(Note("1")), desk.ask(Note("2"), job: other)]
        desk.storeIsSlow = true
        desk.route(true)
        let lane = LaneID(job: other, name: Note.lane)
        desk.carryOut(desk.machine.onPause(lane, now: desk.now, using: &desk.generator))
        desk.storeIsSlow = false
        #expect(desk.unwritten.map { $0.records.count } == [2])
        desk.writeAll()
        #expect(desk.sent == [tokens[0]])
        desk.reply(tokens[0], .predecessorMissing(nil))
        #expect(desk.brought == [Desk.anna])
    }

    @Test("A server that says of several that it cannot is well: an illness that was seen meanwhile is over")
    func wellAgain() {
        var desk = Desk(routeIsUp: false)
        let (first, second, loose) = (desk.ask(Note("1")), desk.ask(Note("2")), desk.ask(Loose()))
        desk.route(true)
        desk.reply(loose, .answerLost(reason: "reset"))
        #expect(desk.machine.standing.rest?.wait.cause == .unhealthy)
        desk.reply(first, .tryAgain(status: 422, reason: "malformed"))
        #expect(desk.machine.standing.rest == nil)
        #expect(desk.companions(of: first) == [first] && desk.companions(of: second) == [first, second])
    }

    @Test("What has failed, what items are brought for, and what has no order goes alone")
    func alone() {
        var desk = Desk(routeIsUp: false)
        let first = desk.ask(Note("1"))
        let signature = desk.ask(SignOff(digest: String(repeating: "0f", count: 32), name: "J. Smith"), job: other)
        let loose = desk.ask(Loose())
        let second = desk.ask(Note("2"))
        desk.route(true)
        #expect(desk.companions(of: signature) == [signature], "the highest priority")
        desk.accept(signature)
        #expect(desk.companions(of: first) == [first] && desk.companions(of: loose) == [loose])
        desk.reply(first, .tryAgain(status: 422, reason: "not yet"))
        desk.pass(1_000)
        #expect(desk.companions(of: first) == [first])
        desk.accept(first)
        #expect(desk.sent.last == second)
    }

    @Test("An exchange has an end, in number and in bytes")
    func bounds() {
        var desk = Desk(routeIsUp: false)
        let text = String(repeating: "n", count: 60_000)
        let large = (1...10).map { _ in desk.ask(Note(text)) }
        let small = (1...50).map { _ in desk.ask(Note("n"), job: other) }
        desk.route(true)
        #expect(desk.companions(of: large[0]).count == 8)
        acceptAll(&desk)
        #expect(desk.exchanges.values.map(\.count).max() == 32)
        #expect(desk.sent == large + small)
    }

    @Test("What is being taken back goes with nobody, and holds back who follows it")
    func droppedBehindAHead() throws {
        var desk = Desk(routeIsUp: false)
        let tokens = (0..<3).map { desk.ask(Note("n\($0)")) }
        let directives = try desk.machine.onDrop(tokens[1], now: desk.now, using: &desk.generator)
        desk.carryOut(directives)
        #expect(desk.withdrawals == [tokens[1]])
        desk.route(true)
        #expect(desk.sent == [tokens[0]])
        desk.accept(tokens[0])
        #expect(desk.sent == [tokens[0]], "its withdrawal is not written yet, and may not be")
    }

    @Test("A pause or a drop takes a request, and all behind it, out of what has not left", arguments: [true, false])
    func notLeft(isPause: Bool) throws {
        var desk = Desk(routeIsUp: false)
        let first = desk.ask(Note("1"), author: Desk.bert, isOwn: false)
        let own = desk.ask(Note("2"), job: other)
        let last = desk.ask(Note("3"), author: Desk.bert, isOwn: false)
        desk.storeIsSlow = true
        desk.route(true)
        if isPause {
            desk.carryOut(desk.machine.onPause(nil, now: desk.now, using: &desk.generator))
        } else {
            desk.carryOut(try desk.machine.onDrop(own, now: desk.now, using: &desk.generator))
        }
        desk.storeIsSlow = false
        desk.writeAll()
        #expect(desk.sent == [first])
        desk.accept(first)
        #expect(desk.sent == [first, last])
        desk.accept(last)
        desk.carryOut(desk.machine.onResume(nil, now: desk.now, using: &desk.generator))
        desk.carryOut(desk.machine.onWithdrawFailed(own, now: desk.now, using: &desk.generator))
        desk.pass(1_000)
        #expect(desk.sent == [first, last, own])
    }

    @Test("An exchange ends when nobody waits for any of it")
    func pointless() throws {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...3).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.carryOut(try desk.machine.onDrop(tokens[1], now: desk.now, using: &desk.generator))
        desk.publish(tokens[0])
        #expect(desk.cancelled == [])
        desk.carryOut(desk.machine.onWithdrawFailed(tokens[1], now: desk.now, using: &desk.generator))
        #expect(desk.sent == tokens, "not while the rest is under way, which it goes before")
        desk.publish(tokens[2])
        #expect(desk.cancelled == tokens)
        desk.pass(1_000)
        #expect(desk.sent == tokens + [tokens[1]])
    }

    @Test("Behind what is taken back while it is under way nothing goes before it is settled", arguments: 1...3)
    func droppedUnderWay(decided: Int) throws {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...4).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.carryOut(try desk.machine.onDrop(tokens[1], now: desk.now, using: &desk.generator))
        // The server does not know of it yet.
        desk.reply(tokens[0], .decided(tokens[..<decided].map { Outcome(token: $0, verdict: .accepted) }))
        // Where it has decided that one all the same, that is settled.
        #expect(desk.sent.dropFirst(4) == (decided == 1 ? [] : tokens[decided...]))
        desk.carryOut(desk.machine.onWithdrawn(tokens[1], now: desk.now, using: &desk.generator))
        #expect(desk.sent.dropFirst(4) == tokens[max(2, decided)...])
        #expect(desk.companions(of: tokens[3]) == Array(tokens[max(2, decided)...]))
    }

    @Test("When the answer to the others is lost, what was taken back is not sent again")
    func droppedAndLost() throws {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...4).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.carryOut(try desk.machine.onDrop(tokens[1], now: desk.now, using: &desk.generator))
        desk.reply(tokens[0], .answerLost(reason: "reset"))
        desk.pass(10_000)
        desk.accept(tokens[0])
        #expect(desk.sent.dropFirst(4) == [tokens[0]], "nothing before it is known whether the second one stands")
        desk.carryOut(desk.machine.onWithdrawn(tokens[1], now: desk.now, using: &desk.generator))
        desk.accept(tokens[2])
        desk.accept(tokens[3])
        #expect(desk.sent.dropFirst(4) == [tokens[0], tokens[2], tokens[3]])
    }

    @Test("After a crash in its midst each goes alone")
    func crash() {
        var desk = Desk(routeIsUp: false)
        let tokens = (1...3).map { desk.ask(Note("\($0)")) }
        desk.route(true)
        desk.restart()
        #expect(desk.log.map(\.outcome) == [.interrupted, .interrupted, .interrupted])
        desk.pass(1_000)
        acceptAll(&desk)
        #expect(desk.sent.suffix(3) == tokens[...])
        #expect(desk.exchanges.values.contains([tokens[2]]))
    }

    @Test(
        "One at which the server always fails hides behind nobody and does not keep the others back", arguments: 0..<32)
    func poison(place: Int) {
        var desk = Desk(routeIsUp: false)
        let tokens = (0..<40).map { number in
            desk.now += 1
            return desk.ask(Note("n"), job: JobID("job-\(number)") ?? Desk.job)
        }
        desk.route(true)
        let end = desk.now + 300_000
        while desk.now < end {
            while let token = desk.machine.queue.first(where: { $0.state == .sending })?.entry.token {
                desk.now += 1
                if desk.companions(of: token).contains(tokens[place]) {
                    desk.reply(token, .tryAgain(status: 500, reason: "broken"))
                } else {
                    for one in desk.companions(of: token) { desk.accept(one) }
                }
            }
            desk.pass(100)
            desk.carryOut(desk.machine.onServerReached(now: desk.now, using: &desk.generator))
        }
        #expect(desk.machine.queue.map(\.entry.token) == [tokens[place]])
    }
}
