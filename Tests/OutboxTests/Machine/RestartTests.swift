import CRDT
import Outbox
import Testing

@Suite("A restart at any moment loses no request and no wait")
struct RestartTests {
    @Test("An attempt that was recorded and never heard of is like a lost answer")
    func crashBeforeSending() {
        var desk = Desk()
        desk.storeIsSlow = true
        let token = desk.ask(Note())
        // The record is written, and the daemon ends before it sends.
        for record in desk.unwritten.flatMap(\.records) { desk.records[record.token] = record }
        desk.storeIsSlow = false
        desk.restart()
        #expect(desk.sent == [], "what ends the daemon does not end it in a loop")
        desk.pass(1_000)
        #expect(desk.sent == [token])
        #expect(desk.records[token]?.attempts == 2)
    }

    @Test("A request whose attempt was not even recorded goes at once")
    func crashBeforeRecord() {
        var desk = Desk()
        desk.storeIsSlow = true
        let token = desk.ask(Note())
        desk.storeIsSlow = false
        desk.restart()
        #expect(desk.sent == [token])
        #expect(desk.records[token]?.attempts == 1)
    }

    @Test("A wait goes on over a restart, and neither it nor the route's first report makes it shorter")
    func waitGoesOn() {
        var desk = Desk()
        let token = desk.ask(Note())
        for _ in 0..<7 {
            desk.reply(token, .tryAgain(status: 500, reason: "broken"))
            desk.pass((desk.machine.nextDeadline ?? 0) - desk.now)
        }
        desk.reply(token, .tryAgain(status: 500, reason: "broken"))
        let due = desk.machine.nextDeadline
        let count = desk.sent.count
        desk.restart()
        #expect(desk.machine.nextDeadline == due)
        #expect(desk.records[token]?.failures == 8)
        desk.pass((due ?? 0) - desk.now - 1)
        #expect(desk.sent.count == count)
        desk.pass(1)
        #expect(desk.sent.count == count + 1)
    }

    @Test("After another boot a wait is no shorter than it was and ends at most its own length after the start")
    func otherBoot() throws {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.reply(token, .serverBusy(status: 503, retryAfterMilliseconds: 600_000))
        let rest = try #require(desk.standing.rest?.wait.milliseconds)
        desk.now = 5_000
        desk.restart()
        let due = try #require(desk.machine.nextDeadline)
        #expect(due >= rest)
        #expect(due <= 5_000 + 2 * rest)
        desk.pass(due)
        #expect(desk.sent == [token, token])
    }

    @Test("Suspend counts as waiting")
    func suspend() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.reply(token, .serverBusy(status: 503, retryAfterMilliseconds: 600_000))
        // The clock has run on, the daemon has not.
        desk.now += 3_600_000
        desk.carryOut(desk.machine.onTimer(now: desk.now, using: &desk.generator))
        #expect(desk.sent == [token, token])
    }

    @Test("What was answered is not asked again at once, and its lane goes on")
    func answered() {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.answer(first)
        desk.restart()
        desk.pass(2_000)
        #expect(desk.sent == [first, second, second])
        #expect(desk.state(of: first) == .answered)
        desk.restart(outcomes: [Outcome(token: first, verdict: .accepted)])
        #expect(desk.state(of: first) == nil && desk.records[first] == nil)
    }

    @Test("Records of what is no longer asked for are forgotten at the start")
    func leftovers() {
        var desk = Desk()
        desk.records[MutationToken(55)] = OutboxRecord(token: MutationToken(55))
        desk.restart()
        #expect(desk.records == [:])
    }

    @Test("A store that fails delays the attempt and does not count it")
    func storeFails() {
        var desk = Desk()
        desk.storeIsSlow = true
        let token = desk.ask(Note())
        desk.unwritten = []
        desk.storeIsSlow = false
        desk.carryOut(desk.machine.onPersistFailed(1, now: desk.now, using: &desk.generator))
        #expect(desk.sent == [])
        desk.pass(1_000)
        #expect(desk.sent == [token])
        #expect(desk.records[token]?.attempts == 1)
    }

    @Test("The log has the attempts with what came of them and what follows")
    func log() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.pass(100)
        desk.reply(token, .tryAgain(status: 500, reason: "broken"))
        let due = desk.machine.nextDeadline
        desk.pass(1_000)
        desk.accept(token)
        let events = desk.log
        #expect(events.map(\.outcome) == [.tryAgain, .accepted])
        #expect(events.map(\.attempt) == [1, 2])
        #expect(events.first?.durationMilliseconds == 100 && events.first?.status == 500)
        #expect(events.map(\.nextAttempt) == [due, nil])
    }
}
