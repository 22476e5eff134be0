import CRDT
import Outbox
import Testing

@Suite("What follows from what came of an attempt")
struct OutcomeTests {
    @Test("Nothing leaves before its attempt is durable")
    func durability() {
        var desk = Desk()
        desk.storeIsSlow = true
        let token = desk.ask(Note())
        #expect(desk.sent == [])
        #expect(desk.unwritten.flatMap { $0.records.map(\.attempts) } == [1])
        desk.writeAll()
        #expect(desk.sent == [token])
    }

    @Test("When it fails once and nothing else happens, the retry comes by itself")
    func failsOnce() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.reply(token, .tryAgain(status: 500, reason: "broken"))
        #expect(desk.sent == [token])
        desk.pass(1_000)
        #expect(desk.sent == [token, token])
        desk.accept(token)
        #expect(desk.machine.queue == [] && desk.records == [:])
    }

    @Test(
        "Whatever happens once, the same token goes again by itself",
        arguments: [
            OutboxMachine.Reply.tryAgain(status: 500, reason: "broken"),
            .serverBusy(status: 503, retryAfterMilliseconds: nil),
            .serverBusy(status: 429, retryAfterMilliseconds: 7_000), .unauthorised, .unreachable(reason: "no name"),
            .answerLost(reason: "reset"), .predecessorMissing(nil),
        ])
    func everyFailure(reply: OutboxMachine.Reply) {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.reply(token, reply)
        #expect(desk.sent == [token])
        #expect(desk.machine.queue.count == 1, "nothing is dropped")
        desk.pass(1_200_000)
        #expect(desk.sent.prefix(2) == [token, token])
    }

    @Test("The waits double up to a bound and are never twice the same")
    func backOff() {
        var desk = Desk()
        let token = desk.ask(Note())
        var waits: [UInt64] = []
        for _ in 0..<20 {
            let failed = desk.now
            desk.reply(token, .tryAgain(status: 500, reason: "broken"))
            let due = desk.machine.nextDeadline ?? 0
            waits.append(due - failed)
            desk.pass(due - failed)
        }
        for (index, wait) in waits.enumerated() {
            let whole = min(UInt64(1_000) << UInt64(index), 300_000)
            #expect((whole / 2...whole).contains(wait))
        }
        #expect(Set(waits).count == waits.count)
        #expect(desk.sent.count == 21)
    }

    @Test("The person is told once of a head that is stuck")
    func stuck() {
        var desk = Desk()
        let token = desk.ask(Note())
        for _ in 0..<20 {
            desk.reply(token, .tryAgain(status: 500, reason: "broken"))
            // To the next attempt, and not beyond its deadline.
            desk.pass((desk.machine.nextDeadline ?? 0) - desk.now)
        }
        #expect(desk.sent.count == 21)
        #expect(desk.told == [.stuck(desk.journals[0], failures: 8, lastError: "broken")])
    }

    @Test("A busy server is left alone by every lane as long as it says, then one attempt goes ahead")
    func retryAfter() throws {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"), job: try #require(JobID("jones")))
        desk.reply(first, .serverBusy(status: 503, retryAfterMilliseconds: 120_000))
        let loose = desk.ask(Loose())
        // Neither a route that appears nor a person nor a restart makes it earlier.
        desk.route(false)
        desk.route(true)
        desk.carryOut(try desk.machine.onRetry(first, now: desk.now, using: &desk.generator))
        desk.pass(60_000)
        desk.restart()
        desk.pass(59_999)
        #expect(desk.sent == [first])
        desk.pass(20_000)
        #expect(desk.sent == [first, first], "the first alone")
        desk.accept(first)
        #expect(desk.sent == [first, first, second, loose])
    }

    @Test("An absurd Retry-After is believed for an hour only")
    func absurdRetryAfter() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.reply(token, .serverBusy(status: 503, retryAfterMilliseconds: .max / 2))
        desk.pass(3_599_999)
        #expect(desk.sent == [token])
        desk.pass(400_000)
        #expect(desk.sent.count > 1)
    }

    @Test("Refused credentials stop the whole outbox, drop nothing, and are tried again when there are new ones")
    func unauthorised() throws {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.reply(first, .unauthorised)
        desk.ask(Loose())
        desk.pass(600_000)
        #expect(desk.sent == [first])
        #expect(desk.told == [.unauthorised])
        desk.restart()
        desk.pass(60_000)
        #expect(desk.sent == [first], "remembered")
        #expect(desk.machine.queue.count == 3)
        desk.carryOut(desk.machine.onCredentials(now: desk.now, using: &desk.generator))
        #expect(desk.sent.count == 2, "one finds out")
        desk.accept(desk.sent[1])
        #expect(desk.told == [.unauthorised, .authorisedAgain])
        for token in [first, second] where desk.machine.queue.contains(where: { $0.entry.token == token }) {
            desk.accept(token)
        }
        #expect(desk.records.values.allSatisfy { $0.failures <= 1 }, "no failure of a request")
    }

    @Test("Who cannot be reached is tried at once when a route or an answer appears, and no failure is counted")
    func unreachable() {
        var desk = Desk()
        let token = desk.ask(Note())
        for _ in 0..<3 { desk.reply(token, .unreachable(reason: "no route")); desk.pass(10_000) }
        let tries = desk.sent.count
        #expect(tries > 1)
        desk.reply(token, .unreachable(reason: "no route"))
        #expect(desk.records[token]?.failures == 0)
        desk.carryOut(desk.machine.onServerReached(now: desk.now, using: &desk.generator))
        #expect(desk.sent.count == tries + 1)
        desk.reply(token, .unreachable(reason: "no route"))
        desk.route(false)
        desk.route(true)
        #expect(desk.sent.count == tries + 2)
    }

    @Test("Without a route nothing is sent and nothing is due")
    func noRoute() {
        var desk = Desk(routeIsUp: false)
        let token = desk.ask(Note())
        #expect(desk.machine.nextDeadline == nil)
        desk.pass(3_600_000)
        #expect(desk.sent == [])
        desk.route(true)
        #expect(desk.sent == [token])
        // It goes down while the attempt is under way: that ends, and then there is silence.
        desk.route(false)
        desk.pass(3_600_000)
        #expect(desk.sent == [token] && desk.cancelled == [token])
        #expect(desk.machine.nextDeadline == nil)
        desk.route(true)
        #expect(desk.sent == [token, token])
    }

    @Test("A silent server holds a lane until the deadline, no longer; its late answer counts all the same")
    func deadline() {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.pass(29_999)
        #expect(desk.cancelled == [])
        desk.pass(1)
        #expect(desk.cancelled == [first])
        #expect(desk.log.map(\.outcome) == [.deadlineExceeded])
        desk.answer(first, in: 1)
        #expect(desk.sent == [first, second])
        #expect(desk.state(of: first) == .answered)
    }

    @Test("A late failure of an attempt that was given up changes nothing")
    func lateFailure() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.pass(32_000)
        #expect(desk.sent == [token, token])
        let before = desk.machine.queue
        desk.reply(token, .unauthorised, in: 1)
        desk.reply(token, .serverBusy(status: 503, retryAfterMilliseconds: 9_000), in: 1)
        #expect(desk.machine.queue == before)
        #expect(desk.told == [])
    }

    @Test("What the server misses is brought to it, and then the request goes again")
    func predecessorMissing() {
        var desk = Desk()
        let token = desk.ask(Note(), author: Desk.bert, isOwn: false)
        desk.reply(token, .predecessorMissing(MutationToken(99)))
        #expect(desk.brought == [Desk.bert])
        #expect(desk.sent == [token])
        desk.carryOut(
            desk.machine.onJournalBrought(Desk.job, Desk.bert, now: desk.now, using: &desk.generator))
        #expect(desk.sent == [token, token])
    }

    @Test("What the server goes on missing, whatever was brought, is asked for ever more seldom")
    func predecessorNeverThere() {
        var desk = Desk()
        let token = desk.ask(Note(), author: Desk.bert, isOwn: false)
        for _ in 0..<100 where desk.state(of: token) == .sending {
            desk.reply(token, .predecessorMissing(MutationToken(99)))
            desk.carryOut(
                desk.machine.onJournalBrought(Desk.job, Desk.bert, now: desk.now, using: &desk.generator))
        }
        #expect(desk.sent == [token, token], "once more, and then not at once")
        var times: [UInt64] = []
        for _ in 0..<6 {
            let begin = desk.now
            while desk.state(of: token) != .sending, let due = desk.machine.nextDeadline { desk.pass(due - desk.now) }
            times.append(desk.now - begin)
            desk.reply(token, .predecessorMissing(MutationToken(99)))
            desk.carryOut(
                desk.machine.onJournalBrought(Desk.job, Desk.bert, now: desk.now, using: &desk.generator))
        }
        #expect(times.allSatisfy { $0 >= 1_000 } && (times.last ?? 0) > 4 * times[0])
        #expect(desk.brought.count == 8, "each time it is brought again")
    }

    @Test("A server that has forgotten what it accepted is asked again, the earlier one first")
    func forgetfulServer() {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.answer(first)
        desk.reply(second, .predecessorMissing(first))
        #expect(desk.sent == [first, second, first])
        desk.accept(first)
        desk.pass(2_000)
        #expect(desk.sent == [first, second, first, second])
    }

    @Test("What is answered and never shown is asked again, ever more seldom, and holds nobody up")
    func unconfirmed() {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.answer(first)
        desk.accept(second)
        var gaps: [UInt64] = []
        for _ in 0..<4 {
            let begin = desk.now
            let count = desk.sent.count
            while desk.sent.count == count, let due = desk.machine.nextDeadline { desk.pass(due - desk.now) }
            gaps.append(desk.now - begin)
            desk.answer(first)
        }
        #expect(gaps[0] >= 15_000 && gaps[3] > gaps[0])
        desk.publish(first)
        #expect(desk.machine.queue == [] && desk.records == [:])
    }
}
