import CRDT
import Outbox
import Testing

@Suite("What people see of the queue and do to it")
struct PeopleTests {
    private func drop(_ token: MutationToken, at desk: inout Desk) throws {
        desk.carryOut(try desk.machine.onDrop(token, now: desk.now, using: &desk.generator))
    }

    @Test("What is rejected for good leaves its lane and is listed until somebody takes note")
    func rejected() throws {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.answer(first, .rejected, "The job is completed.")
        #expect(desk.sent == [first, second])
        #expect(desk.machine.notShown == [first])
        #expect(desk.told == [.rejected(desk.journals[0], reason: "The job is completed.")])
        desk.publish(first, .rejected, "The job is completed.")
        desk.restart()
        #expect(desk.told.count == 1)
        #expect(desk.state(of: first) == .rejected)
        #expect(desk.machine.queue.last?.record.lastError == "The job is completed.")
        #expect(throws: OutboxRefusal.rejected(first)) {
            _ = try desk.machine.onRetry(first, now: desk.now, using: &desk.generator)
        }
        try drop(first, at: &desk)
        #expect(desk.state(of: first) == nil && desk.records[first] == nil && desk.withdrawals == [])
    }

    @Test("The person is told of a rejection that came through another gateway, once, also after a restart")
    func rejectedElsewhere() {
        var desk = Desk(routeIsUp: false)
        let token = desk.ask(Note())
        desk.publish(token, .rejected, "No.")
        desk.publish(token, .rejected, "No.")
        #expect(desk.told == [.rejected(desk.journals[0], reason: "No.")])
        var late = Desk(routeIsUp: false)
        let unseen = late.ask(Note())
        // The channel had it, the daemon ended before the outbox heard of it.
        late.restart(outcomes: [Outcome(token: unseen, verdict: .rejected, reason: "No.")])
        #expect(late.told == [.rejected(late.journals[0], reason: "No.")])
    }

    @Test("What the office has taken back is told like a rejection, what is dropped here is not")
    func withdrawnElsewhere() throws {
        var desk = Desk(routeIsUp: false)
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.publish(first, .withdrawn, "The customer has called.")
        #expect(desk.told == [.rejected(desk.journals[0], reason: "The customer has called.")])
        #expect(desk.state(of: first) == .rejected)
        try drop(second, at: &desk)
        desk.publish(second, .withdrawn)
        #expect(desk.told.count == 1 && desk.state(of: second) == nil)
    }

    @Test("The queue lists what goes first: of a lane its head, whatever the others' priorities")
    func order() {
        var desk = Desk(routeIsUp: false)
        let lane = [desk.ask(Note("1", priority: 10)), desk.ask(Note("2", priority: 200)), desk.ask(Note("3"))]
        let urgent = desk.ask(Loose())
        let newest = [desk.ask(Newest()), desk.ask(Newest())]
        #expect(desk.machine.queue.map(\.entry.token) == [urgent, newest[1], newest[0]] + lane)
    }

    @Test("Another device's rejections are its own affair")
    func foreignRejection() {
        var desk = Desk()
        let token = desk.ask(Note(), author: Desk.bert, isOwn: false)
        desk.answer(token, .rejected, "No.")
        desk.publish(token, .rejected, "No.")
        #expect(desk.told == [] && desk.machine.queue == [] && desk.records == [:])
    }

    @Test("A stuck head is dropped by withdrawing it, and its lane goes on when that is durable")
    func drop() throws {
        var desk = Desk()
        let first = desk.ask(Note("1"))
        let second = desk.ask(Note("2"))
        desk.reply(first, .tryAgain(status: 500, reason: "broken"))
        try drop(first, at: &desk)
        try drop(first, at: &desk)
        #expect(desk.withdrawals == [first])
        #expect(desk.machine.notShown == [first])
        desk.pass(600_000)
        #expect(desk.sent == [first])
        desk.carryOut(desk.machine.onWithdrawn(first, now: desk.now, using: &desk.generator))
        #expect(desk.sent == [first, second])
        #expect(desk.records[first] == nil)
    }

    @Test("A withdrawal that the store cannot take leaves the request as it was")
    func dropFails() throws {
        var desk = Desk()
        let token = desk.ask(Note())
        try drop(token, at: &desk)
        #expect(desk.cancelled == [token])
        desk.carryOut(desk.machine.onWithdrawFailed(token, now: desk.now, using: &desk.generator))
        desk.pass(1_000)
        #expect(desk.sent == [token, token])
    }

    @Test("Only what was asked for here can be dropped, and only before it is answered")
    func dropRefused() {
        var desk = Desk()
        let foreign = desk.ask(Note(), author: Desk.bert, isOwn: false)
        let own = desk.ask(Note())
        desk.answer(own)
        let unknown = MutationToken(77)
        for (token, refusal) in [
            (foreign, OutboxRefusal.notOwn(foreign)), (own, .answered(own)), (unknown, .unknown(unknown)),
        ] {
            #expect(refusal.sentence.contains(token.description.prefix(8)))
            #expect(throws: refusal) { _ = try desk.machine.onDrop(token, now: desk.now, using: &desk.generator) }
        }
    }

    @Test("A retry by hand does not wait")
    func retry() throws {
        var desk = Desk()
        let token = desk.ask(Note())
        for _ in 0..<6 { desk.reply(token, .tryAgain(status: 500, reason: "broken")); desk.pass(300_000) }
        desk.reply(token, .tryAgain(status: 500, reason: "broken"))
        let count = desk.sent.count
        desk.carryOut(try desk.machine.onRetry(token, now: desk.now, using: &desk.generator))
        #expect(desk.sent.count == count + 1)
    }

    @Test("A paused lane sends nothing of its own device, also after a restart; a gateway goes on for the others")
    func pause() {
        var desk = Desk()
        let lane = LaneID(job: Desk.job, name: Note.lane)
        desk.carryOut(desk.machine.onPause(lane, now: desk.now, using: &desk.generator))
        let own = desk.ask(Note())
        let foreign = desk.ask(Note(), author: Desk.bert, isOwn: false)
        let elsewhere = desk.ask(Loose())
        #expect(desk.sent == [foreign, elsewhere])
        #expect(desk.state(of: own) == .paused)
        desk.restart()
        desk.pass(3_000)
        #expect(desk.sent == [foreign, elsewhere, foreign], "the first alone, as its last attempt was interrupted")
        desk.accept(foreign)
        #expect(desk.sent.last == elsewhere)
        desk.accept(elsewhere)
        #expect(!desk.sent.contains(own))
        desk.carryOut(desk.machine.onResume(lane, now: desk.now, using: &desk.generator))
        #expect(desk.sent.last == own)
    }

    @Test("Everything is paused and resumed at once")
    func pauseAll() {
        var desk = Desk()
        desk.storeIsSlow = true
        let early = desk.ask(Note())
        desk.carryOut(desk.machine.onPause(nil, now: desk.now, using: &desk.generator))
        desk.carryOut(
            desk.machine.onPause(LaneID(job: Desk.job, name: Loose.lane), now: desk.now, using: &desk.generator))
        desk.writeAll()
        let late = desk.ask(Loose())
        desk.pass(600_000)
        #expect(desk.sent == [], "not even what was about to go")
        desk.storeIsSlow = false
        desk.carryOut(desk.machine.onResume(nil, now: desk.now, using: &desk.generator))
        #expect(desk.sent == [early, late])
        #expect(desk.records[early]?.attempts == 1)
    }

    @Test("The name of a lane is read as it is printed")
    func laneNames() {
        let lane = LaneID(job: Desk.job, name: "state")
        #expect("\(lane)" == "smith/state" && LaneID("smith/state") == lane)
        #expect(LaneID("smith/.")?.name == ".", "an office may name a lane so")
        for text in ["", "smith", "smith/", "/state", "a/b/c", "smith/st ate"] { #expect(LaneID(text) == nil) }
    }
}
