import CRDT
import Outbox
import Simulation
import Testing

/// Requests of nine jobs and a server that is ill for stretches of time, from one seed.
private struct IllDay {
    enum Trouble: CaseIterable {
        case well, broken, badGateway, lost, replyLost, busy, unreachable, unauthorised, noRoute
    }

    static let troubleEnd: UInt64 = 600_000

    var desk = Desk(routeIsUp: false)
    var generator: SeededGenerator
    private var stretches: [(end: UInt64, trouble: Trouble)] = []
    private(set) var accepted: [MutationToken] = []
    private(set) var struck: Set<Trouble> = []
    private(set) var outOfOrder: [String] = []
    /// How many were in one exchange at most.
    private(set) var longest = 0
    private let begin: UInt64

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        desk.generator = SeededGenerator(seed: seed &+ 77_777)
        begin = desk.now
        var time = begin
        while time < begin + Self.troubleEnd {
            time += UInt64.random(in: 500...60_000, using: &generator)
            stretches.append((time, Trouble.allCases.randomElement(using: &generator) ?? .well))
        }
        for number in 0..<9 {
            guard let job = JobID("job-\(number)") else { continue }
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let priority = 128 + 32 * UInt8.random(in: 0...2, using: &generator)
                desk.ask(Note(priority: priority), job: job, isOwn: Bool.random(using: &generator))
                desk.now += UInt64.random(in: 0...3, using: &generator)
            }
        }
    }

    private var trouble: Trouble { stretches.first { $0.end > desk.now }?.trouble ?? .well }

    mutating func run() {
        var isRouteUp = false
        for _ in 0..<20_000 where accepted.count < desk.journals.count {
            if isRouteUp != (trouble != .noRoute) {
                isRouteUp.toggle()
                desk.route(isRouteUp)
            }
            if trouble == .well, generator.oneIn(3) {
                desk.carryOut(desk.machine.onServerReached(now: desk.now, using: &desk.generator))
            }
            if trouble == .well {
                desk.carryOut(desk.machine.onCredentials(now: desk.now, using: &desk.generator))
            }
            let underWay = desk.machine.queue.filter { $0.state == .sending }.map(\.entry.token)
            if let token = underWay.randomElement(using: &generator) {
                arrive(token)
            } else {
                desk.pass(UInt64.random(in: 1...5_000, using: &generator))
            }
        }
    }

    private mutating func arrive(_ token: MutationToken) {
        let number = desk.exchange[token]
        let together = desk.companions(of: token)
        struck.insert(trouble)
        longest = max(longest, together.count)
        // The office stops where it likes, behind the first.
        let decided = together.prefix(generator.oneIn(3) ? Int.random(in: 1...9, using: &generator) : .max)
        let outcomes = decided.map { Outcome(token: $0, verdict: .accepted) }
        let reply: OutboxMachine.Reply =
            switch trouble {
            case .well, .replyLost: .decided(outcomes)
            case .broken: .tryAgain(status: 500, reason: "broken")
            case .badGateway: .tryAgain(status: 502, reason: "bad gateway")
            case .lost: .answerLost(reason: "reset")
            case .busy: .serverBusy(status: 503, retryAfterMilliseconds: generator.oneIn(2) ? nil : 3_000)
            case .unreachable, .noRoute: .unreachable(reason: "no connection")
            case .unauthorised: .unauthorised
            }
        let isLost = trouble == .replyLost
        let isDone = reply == .decided(outcomes)
        if isDone { for token in decided { accept(token) } }
        desk.pass(UInt64.random(in: 1...400, using: &generator))
        guard desk.exchange[token] == number, desk.state(of: token) == .sending else { return }
        desk.reply(token, isLost ? .answerLost(reason: "reset") : reply)
        if isDone, !isLost { for token in decided { desk.publish(token) } }
    }

    /// The office carries it out, once: nobody who could have gone before it may be left.
    private mutating func accept(_ token: MutationToken) {
        guard !accepted.contains(token), let taken = desk.journals.first(where: { $0.token == token }) else { return }
        for other in desk.journals where other.token != token && !accepted.contains(other.token) {
            if let after = other.request.after, !accepted.contains(after) { continue }
            if rank(other) < rank(taken) { outOfOrder.append("\(rank(taken)) before \(rank(other))") }
        }
        accepted.append(token)
    }

    private func rank(_ entry: OutboxEntry) -> [UInt64] {
        [UInt64(255 - entry.request.priority), entry.created.rawValue, UInt64(truncatingIfNeeded: entry.token.value)]
    }
}

extension [UInt64] {
    fileprivate static func < (left: Self, right: Self) -> Bool { left.lexicographicallyPrecedes(right) }
}

@Suite("Illness and order")
struct OrderTests {
    @Test("Whatever strikes all requests alike, they are accepted by priority and age", arguments: UInt64(0)..<300)
    func order(seed: UInt64) {
        var day = IllDay(seed: seed)
        day.run()
        #expect(day.outOfOrder == [], "seed \(seed)")
        #expect(day.accepted.count == day.desk.journals.count, "seed \(seed)")
    }

    @Test("Every illness struck in some of these days, and exchanges of many")
    func everyIllness() {
        var struck: Set<IllDay.Trouble> = []
        var longest = 0
        for seed in UInt64(0)..<20 {
            var day = IllDay(seed: seed)
            day.run()
            struck.formUnion(day.struck)
            longest = max(longest, day.longest)
        }
        #expect(longest > 10)
        #expect(struck.isSuperset(of: IllDay.Trouble.allCases.filter { $0 != .noRoute }))
    }

    @Test("Nine jobs, broken lines and 500s: the oldest goes first, and the highest priority before it")
    func nineJobs() throws {
        var desk = Desk(routeIsUp: false)
        let tokens = try (0..<9).map { number in
            desk.now += 1
            return desk.ask(
                Note("\(number)", priority: number == 8 ? 192 : 128), job: try #require(JobID("job-\(number)")))
        }
        desk.route(true)
        var accepted: [MutationToken] = []
        for step in 0..<500 where accepted.count < tokens.count {
            let underWay = desk.machine.queue.filter { $0.state == .sending }.map(\.entry.token)
            for token in underWay where desk.state(of: token) == .sending {
                switch step {
                case ..<4: desk.reply(token, .answerLost(reason: "reset"))
                case 4..<8: desk.reply(token, .tryAgain(status: 500, reason: "broken"))
                default:
                    accepted.append(token)
                    desk.accept(token)
                }
            }
            desk.pass(1_000)
        }
        #expect(accepted == [tokens[8]] + tokens[..<8])
    }

    @Test(
        "What was asked for within one millisecond, or while the clock stood still, goes in the order in which it was asked"
    )
    func oneMillisecond() throws {
        var desk = Desk(routeIsUp: false)
        // The later ones have the smaller tokens.
        let tokens: [UInt128] = [9, 5, 7, 3]
        for (counter, token) in tokens.enumerated() {
            let entry = OutboxEntry(
                request: Note("\(token)").request(token: MutationToken(token), after: nil),
                job: try #require(JobID("job-\(token)")), author: Desk.anna, sequence: 1,
                created: Stamp(milliseconds: desk.now, counter: UInt16(counter)), isOwn: false)
            desk.carryOut(desk.machine.onRequest(entry, now: desk.now, using: &desk.generator))
        }
        desk.route(true)
        #expect(desk.sent == tokens.map { MutationToken($0) })
    }
}
