import CRDT
import Outbox
import Testing

@Suite("What rests the whole outbox, and what makes one lane wait alone")
struct IllnessTests {
    /// One request in each of so many jobs, the oldest first.
    private func ask(_ count: Int, at desk: inout Desk) throws -> [MutationToken] {
        try (0..<count).map { number in
            desk.now += 1
            return desk.ask(Note("\(number)"), job: try #require(JobID("job-\(number)")))
        }
    }

    /// A server that fails as `reply` says and accepts the others, until time is up: what it accepted, and when.
    private func serve(
        _ desk: inout Desk, for milliseconds: UInt64, polls: Bool = true,
        _ reply: (MutationToken) -> OutboxMachine.Reply?
    ) -> [(token: MutationToken, at: UInt64)] {
        var accepted: [(token: MutationToken, at: UInt64)] = []
        let end = desk.now + milliseconds
        while desk.now < end {
            while let line = desk.machine.queue.first(where: { $0.state == .sending }) {
                desk.now += 1
                let together = desk.companions(of: line.entry.token)
                // One that makes it fail makes the whole exchange fail.
                if let failure = together.map(reply).first(where: { $0 != nil }) ?? nil {
                    desk.reply(line.entry.token, failure)
                    continue
                }
                for token in together {
                    accepted.append((token, desk.now))
                    desk.accept(token)
                }
            }
            desk.pass(100)
            if polls { desk.carryOut(desk.machine.onServerReached(now: desk.now, using: &desk.generator)) }
        }
        return accepted
    }

    @Test(
        "One failure of the server or of the way to it rests every lane, and then the first goes alone",
        arguments: [
            OutboxMachine.Reply.tryAgain(status: 500, reason: "broken"), .tryAgain(status: 502, reason: "bad gateway"),
            .tryAgain(status: nil, reason: "what it needs could not be brought"), .answerLost(reason: "reset"),
            .serverBusy(status: 429, retryAfterMilliseconds: nil), .unreachable(reason: "no connection"),
        ])
    func rests(reply: OutboxMachine.Reply) throws {
        var desk = Desk()
        let tokens = try ask(3, at: &desk)
        desk.reply(tokens[0], reply)
        #expect(desk.sent == [tokens[0]], "nobody else is sent")
        #expect(desk.machine.queue.allSatisfy { $0.state == .waiting })
        desk.pass(1_000)
        #expect(desk.sent == [tokens[0], tokens[0]])
        desk.accept(tokens[0])
        desk.accept(tokens[1])
        #expect(desk.sent == [tokens[0]] + tokens)
    }

    @Test(
        "What the server says of one request makes its lane wait alone",
        arguments: [OutboxMachine.Reply.tryAgain(status: 422, reason: "unknown kind"), .predecessorMissing(nil)])
    func ownFailure(reply: OutboxMachine.Reply) throws {
        var desk = Desk()
        let tokens = try ask(2, at: &desk)
        let behind = desk.ask(Note("behind"), job: try #require(JobID("job-0")))
        desk.reply(tokens[0], reply)
        #expect(desk.sent == tokens)
        desk.accept(tokens[1])
        #expect(desk.state(of: tokens[0]) == .waiting && desk.state(of: behind) == .behind)
    }

    @Test("Silence rests every lane as well")
    func silence() throws {
        var desk = Desk()
        let tokens = try ask(2, at: &desk)
        desk.pass(30_000)
        #expect(desk.cancelled == [tokens[0]] && desk.sent == [tokens[0]])
        desk.pass(1_000)
        #expect(desk.sent == [tokens[0], tokens[0]])
    }

    @Test(
        "A server that fails at some jobs only holds the others up for minutes, not for ever",
        arguments: [[0], [0, 1], [0, 1, 2, 3], [0, 4, 8]])
    func failingJobs(failing: [Int]) throws {
        var desk = Desk()
        let tokens = try ask(9, at: &desk)
        let bad = Set(failing.map { tokens[$0] })
        let begin = desk.now
        let accepted = serve(&desk, for: 3_600_000) { token in
            bad.contains(token) ? .tryAgain(status: 500, reason: "broken") : nil
        }
        #expect(Set(accepted.map(\.token)) == Set(tokens).subtracting(bad))
        #expect(accepted.map(\.token).sorted() == accepted.map(\.token), "the others keep their order")
        #expect((accepted.last?.at ?? .max) - begin < 300_000)
        #expect(desk.told.count == bad.count, "people hear of each that is stuck")
        // New ones do not have to find that out again.
        desk.now += 1
        let late = desk.ask(Note("late"), job: try #require(JobID("late")))
        let asked = desk.now
        let next = serve(&desk, for: 600_000) { token in
            bad.contains(token) ? .tryAgain(status: 500, reason: "broken") : nil
        }
        #expect(next.map(\.token) == [late] && (next.first?.at ?? .max) - asked < 10_000)
        // It is mended: what waited alone goes, too.
        #expect(serve(&desk, for: 600_000) { _ in nil }.count == bad.count)
        #expect(desk.machine.queue == [])
    }

    @Test("While the server answers nobody, no other is tried, however often the first fails")
    func nobodyAccused() throws {
        var desk = Desk()
        let tokens = try ask(3, at: &desk)
        #expect(serve(&desk, for: 3_600_000, polls: false) { _ in .answerLost(reason: "reset") }.isEmpty)
        #expect(Set(desk.sent) == [tokens[0]] && desk.sent.count > 12)
    }

    @Test("When the next one fails, too, it is the server: the first is acquitted and goes first again")
    func acquitted() throws {
        var desk = Desk()
        let tokens = try ask(3, at: &desk)
        #expect(serve(&desk, for: 600_000) { _ in .tryAgain(status: 500, reason: "broken") }.isEmpty)
        #expect(Set(desk.sent).count > 1, "others were tried")
        #expect(desk.machine.accused.isEmpty)
        desk.restart()
        #expect(serve(&desk, for: 600_000) { _ in nil }.map(\.token) == tokens)
    }

    @Test("A crash in the midst of an attempt rests the whole outbox, once, and stands in the log")
    func crash() throws {
        var desk = Desk()
        let tokens = try ask(3, at: &desk)
        desk.now += 50
        desk.restart()
        #expect(desk.sent == [tokens[0]])
        #expect(desk.log.map(\.outcome) == [.interrupted])
        #expect(desk.log.first?.detail == "the daemon stopped in the middle of an attempt")
        #expect(desk.log.first?.attempt == 1 && desk.log.first?.began == desk.now - 52)
        desk.restart()
        #expect(desk.log.count == 1)
        desk.pass(1_000)
        #expect(desk.sent == [tokens[0], tokens[0]])
    }

    @Test("A request that ends the daemon again and again does not keep the others back for ever")
    func crashLoop() throws {
        var desk = Desk()
        let tokens = try ask(2, at: &desk)
        for _ in 0..<20 where desk.sent.last == tokens[0] {
            desk.restart()
            desk.pass(60_000)
        }
        #expect(desk.sent.last == tokens[1])
    }

    @Test("An answered request whose confirmation a crash ended is asked again later")
    func crashWhileConfirming() {
        var desk = Desk()
        let token = desk.ask(Note())
        desk.answer(token)
        while desk.sent.count == 1, let due = desk.machine.nextDeadline { desk.pass(due - desk.now) }
        #expect(desk.sent.count > 1 && desk.state(of: token) == .answered)
        desk.restart()
        #expect(desk.log.last?.outcome == .interrupted && desk.state(of: token) == .answered)
        desk.pass(3_600_000)
        desk.publish(token)
        #expect(desk.machine.queue == [] && desk.records == [:])
    }

    @Test("A store that fails rests the whole outbox, and the order holds")
    func storeFails() throws {
        var desk = Desk()
        desk.storeIsSlow = true
        let tokens = try ask(2, at: &desk)
        desk.unwritten = []
        desk.carryOut(desk.machine.onPersistFailed(1, now: desk.now, using: &desk.generator))
        desk.storeIsSlow = false
        desk.pass(1_000)
        #expect(desk.sent == [tokens[0]])
    }
}
