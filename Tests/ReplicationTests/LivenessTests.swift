import CRDT
import Testing
import Timekeeping

@testable import Replication

@Suite("Peers that have gone without a word")
struct LivenessTests {
    private static let name = JournalName(job: JobID(ItemID(7)), replica: ReplicaID(1))
    private let link = LinkID(number: 1)

    /// Two that hold the same, and have nothing to say to each other.
    private func idle() -> Pair {
        var pair = Pair([[Self.name], [Self.name]])
        pair.connect()
        pair.settle()
        return pair
    }

    /// One that has pushed a change, of which nothing more is heard.
    private func waiting() throws -> (mesh: Mesh, now: UInt64) {
        var pair = idle()
        pair.write(Self.name, at: 0)
        try #require(pair.sides[1].inbox.contains { if case .delta = $0 { true } else { false } })
        return (pair.sides[0].mesh, pair.now)
    }

    /// Calls the mesh whenever it wants to be called.
    ///
    /// - Returns: when it has asked for a sign of life, and when it has closed the link, in milliseconds from now.
    private func run(_ mesh: inout Mesh, from start: UInt64, for duration: UInt64) -> (pings: [UInt64], end: UInt64?) {
        var pings: [UInt64] = []
        var (now, calls) = (start, 0)
        while let due = mesh.nextDeadline, due <= start + duration {
            now = max(now, due)
            calls += 1
            guard calls < 1_000 else {
                Issue.record("the mesh wants to be called again and again")
                return (pings, nil)
            }
            let directives = mesh.onTimer(now: now).compactMap(\.onLink)
            if directives.contains(where: isClose) { return (pings, now - start) }
            if directives.contains(where: isPing) { pings.append(now - start) }
        }
        return (pings, nil)
    }

    @Test("While a change waits to be acknowledged, a peer that has gone is noticed within five seconds")
    func unacknowledged() throws {
        var (mesh, now) = try waiting()
        let (pings, end) = run(&mesh, from: now, for: 20_000)
        #expect(pings.count == 1 && pings.allSatisfy { $0 <= 2_000 })
        #expect(try #require(end) <= 5_000)
    }

    @Test("The same while a journal was asked for")
    func unanswered() throws {
        var pair = idle()
        let name = JournalName(job: Self.name.job, replica: ReplicaID(9))
        let entry = VersionVector.Entry(replica: name.replica, head: Pair.segment(of: name, 5).head)
        let now = pair.now
        _ = pair.sides[0].mesh.onMessage(.have(job: name.job, [entry]), on: link, now: now)
        let (_, end) = run(&pair.sides[0].mesh, from: now, for: 20_000)
        #expect(try #require(end) <= 5_000)
    }

    @Test("Of an idle peer nothing is asked before the round that there is anyway")
    func idlePeer() throws {
        var pair = idle()
        let now = pair.now
        let (pings, end) = run(&pair.sides[0].mesh, from: now, for: 16_000)
        #expect(end == nil && pings.count == 1)
    }

    @Test("Once the change is acknowledged the peer is an idle one again")
    func acknowledged() throws {
        var pair = idle()
        pair.write(Self.name, at: 0)
        pair.settle()
        let now = pair.now
        let (pings, end) = run(&pair.sides[0].mesh, from: now, for: 9_000)
        #expect(end == nil && pings.isEmpty)
    }

    @Test("A slow link over which anything comes, less than a message even, is kept")
    func slowLink() throws {
        var (mesh, start) = try waiting()
        for second in 1...14 {
            let now = start + UInt64(second) * 1_000
            mesh.onSign(of: link, at: now - 1_600)
            #expect(!mesh.onTimer(now: now).compactMap(\.onLink).contains(where: isClose), "after \(second) s")
        }
        let (_, end) = run(&mesh, from: start + 14_000, for: 10_000)
        #expect(end == nil, "it has answered for long: it may have a disk that is full")
    }

    @Test("A peer whose machine acknowledges, and then no more, is asked again and given up")
    func firstSlowThenGone() throws {
        var (mesh, start) = try waiting()
        _ = mesh.onTimer(now: start + 1_500)
        mesh.onSign(of: link, at: start + 1_600)
        let (pings, end) = run(&mesh, from: start + 1_700, for: 20_000)
        #expect(pings.count == 1)
        #expect(try #require(end) <= 5_000)
    }

    @Test("Whoever stood still itself asks before it gives a peer up")
    func stoodStill() throws {
        var (mesh, start) = try waiting()
        let directives = mesh.onTimer(now: start + 10_000).compactMap(\.onLink)
        #expect(directives.contains(where: isPing) && !directives.contains(where: isClose))
        let (pings, end) = run(&mesh, from: start + 10_000, for: 20_000)
        #expect(pings.isEmpty && end == 3_000)
    }

    @Test("After a sleep a link is kept over which a long message is coming, less than the whole of it")
    func resumedInTheMidst() throws {
        for (sign, isKept) in [(Int64(500), true), (-100, false)] {
            var pair = idle()
            let now = pair.now + 36_000_000
            _ = pair.sides[0].mesh.onResumed(now: now)
            #expect(pair.sides[0].mesh.doubtfulLinks(now: now + 1_000) == [link])
            pair.sides[0].mesh.onSign(of: link, at: UInt64(Int64(now) + sign))
            let (_, end) = run(&pair.sides[0].mesh, from: now, for: 5_000)
            #expect((end == nil) == isKept, "a sign at \(sign) ms")
        }
    }

    @Test("After a sleep every link is asked at once, and closed when nothing comes within a second")
    func resumed() throws {
        var pair = idle()
        let now = pair.now + 36_000_000
        let directives = pair.sides[0].mesh.onResumed(now: now)
        #expect(directives == [.send(.ping(now), on: link)])
        #expect(!pair.sides[0].mesh.onTimer(now: now).compactMap(\.onLink).contains(where: isClose))
        let (_, end) = run(&pair.sides[0].mesh, from: now, for: 2_000)
        #expect(end == 1_000)
    }

    @Test("Who owed an answer before a sleep is not given up for that")
    func resumedWhileWaiting() throws {
        var (mesh, start) = try waiting()
        #expect(mesh.onTimer(now: start + 1_500).compactMap(\.onLink).contains(where: isPing))
        let now = start + 36_000_000
        _ = mesh.onResumed(now: now)
        #expect(!mesh.onTimer(now: now).compactMap(\.onLink).contains(where: isClose))
    }

    @Test("After a sleep a link over which an answer comes is kept")
    func resumedAndAnswered() throws {
        var pair = idle()
        let now = pair.now + 36_000_000
        _ = pair.sides[0].mesh.onResumed(now: now)
        _ = pair.sides[0].mesh.onMessage(
            .pong(now, received: 0, answered: 0, .unsynchronised), on: link, now: now + 300)
        let (_, end) = run(&pair.sides[0].mesh, from: now, for: 10_000)
        #expect(end == nil)
    }

    @Test("After a sleep whoever did not answer before is dialled at once")
    func dialledAfterSleep() throws {
        let address = PeerAddress(host: "10.77.0.1", port: 7473)
        var generator = SeededGenerator(seed: 1)
        var plan = DialPlan()
        plan.onConfigured(address, now: 0)
        for time in 0..<6 {
            _ = plan.due(now: UInt64(time) * 20_000, connected: [])
            plan.onFailed(address, now: UInt64(time) * 20_000, using: &generator)
        }
        #expect(plan.due(now: 101_000, connected: []).isEmpty)
        plan.onResumed(now: 101_000)
        #expect(plan.due(now: 101_000, connected: []) == [address])
    }

    private func isClose(_ directive: LinkDirective) -> Bool {
        if case .close(link, Mesh.silenceReason) = directive { true } else { false }
    }

    private func isPing(_ directive: LinkDirective) -> Bool {
        if case .send(.ping, link) = directive { true } else { false }
    }
}
