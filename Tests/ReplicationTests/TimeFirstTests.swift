import CRDT
import Replication
import Simulation
import Testing
import Timekeeping

@Suite("A link tells the time before anything else")
struct TimeFirstTests {
    private let link = LinkID(number: 1)
    private let job = JobID(ItemID(1))
    private let peer = DeviceID(high: 1, low: 2)
    private let answer = Message.pong(
        1_000, received: 5, answered: 6, ClockQuality(stratum: 1, uncertainty: 7))

    /// A mesh that was greeted at 1,000 and has asked for the time.
    private func greeted() -> Mesh {
        var mesh = Mesh(
            device: DeviceID(high: 0, low: 1), replica: ReplicaID(1), instance: 1, name: "anna",
            jobs: [(job, VersionVector())])
        _ = mesh.onLinkOpened(link, with: JobAccess(peer), isDialled: true, now: 1_000)
        let directives = mesh.onMessage(.hello(.of(peer)), on: link, now: 1_000)
        #expect(directives == [.send(.ping(1_000), on: link)], "nothing is shown yet")
        return mesh
    }

    @Test("The work is shown when the time was heard and is in force, and not before")
    func timeFirst() {
        var mesh = greeted()
        #expect(mesh.onTimeLearned(link, now: 1_001).isEmpty)
        let exchange = TimeExchange(sent: 1_000_000, received: 5, answered: 6, returned: 1_040_999)
        #expect(
            mesh.onMessage(answer, on: link, now: 1_040)
                == [.learnTime(exchange, ClockQuality(stratum: 1, uncertainty: 7), from: peer, on: link)])
        #expect(mesh.overview().isEmpty)
        #expect(mesh.onTimeLearned(link, now: 1_050) == [.send(.ready, on: link)])
        #expect(mesh.overview().isEmpty, "the peer is not ready")
        let directives = mesh.onMessage(.ready, on: link, now: 1_055)
        #expect(directives.first == .greeting(.established(link, .of(peer))))
        #expect(directives.contains { if case .send(.fingerprint, on: link) = $0.onLink { true } else { false } })
        #expect(mesh.onTimeLearned(link, now: 1_060).isEmpty, "once")
        #expect(mesh.overview().map(\.roundTripMilliseconds) == [40])
    }

    @Test("A peer that asks is answered before it has answered")
    func answersFirst() {
        var mesh = greeted()
        #expect(
            mesh.onMessage(.ping(9), on: link, now: 1_010) == [.answerPing(9, received: 1_010, on: link)])
    }

    @Test("What comes before the time closes the link")
    func tooEarly() {
        for message in [.fingerprint(0), .summaries(bucket: 0, []), .prune(job: job), .have(job: job, [])] as [Message]
        {
            var mesh = greeted()
            #expect(
                mesh.onMessage(message, on: link, now: 1_010)
                    == [.close(link, reason: "A message before both sides were ready.")])
        }
    }

    @Test("A number that was not asked for is no answer")
    func wrongNumber() {
        var mesh = greeted()
        let other = Message.pong(999, received: 5, answered: 6, .unsynchronised)
        #expect(mesh.onMessage(other, on: link, now: 1_010).isEmpty)
        #expect(mesh.onTimeLearned(link, now: 1_010).isEmpty)
    }

    @Test("A peer that never tells the time is closed like one that never greets")
    func silence() throws {
        var mesh = greeted()
        let due = try #require(mesh.nextDeadline)
        #expect(due <= 20_000 as UInt64)
        #expect(mesh.onTimer(now: due) == [.close(link, reason: "The peer does not say what time it is.")])
        #expect(try #require(mesh.nextDeadline) > due)
    }

    @Test("Clocks that are not settled are compared again, for two seconds at most")
    func unsettled() throws {
        var mesh = greeted()
        _ = mesh.onMessage(answer, on: link, now: 1_010)
        #expect(mesh.isPatient(with: link, now: 1_010))
        mesh.onTimeUnsettled(link, now: 1_010)
        let due = try #require(mesh.nextDeadline)
        #expect(due == 1_110)
        #expect(mesh.onTimer(now: due) == [.send(.ping(due), on: link)])
        #expect(mesh.onTimeLearned(link, now: due).isEmpty, "an answer is under way")
        // The peer has followed, and may be ready before this side knows it.
        #expect(mesh.onMessage(.ready, on: link, now: due + 5).isEmpty)
        let second = Message.pong(due, received: 5, answered: 6, .unsynchronised)
        #expect(mesh.onMessage(second, on: link, now: due + 5).count == 1)
        let directives = mesh.onTimeLearned(link, now: due + 5)
        #expect(directives.prefix(2) == [.send(.ready, on: link), .established(link, .of(peer))])
        #expect(!mesh.isPatient(with: link, now: 3_000))
    }

    @Test("Ready twice is not ready")
    func readyTwice() {
        var mesh = greeted()
        #expect(mesh.onMessage(.ready, on: link, now: 1_010).isEmpty)
        #expect(mesh.onMessage(.ready, on: link, now: 1_010).count == 1)
    }

    @Test("A second connection with a device that is about to be established does not make its answer void")
    func crossing() {
        var mesh = greeted()
        let second = LinkID(number: 2)
        // The lower device dialled the first one: it stands, and is asked for nothing anew.
        _ = mesh.onLinkOpened(second, with: JobAccess(peer), isDialled: false, now: 1_005)
        let directives = mesh.onMessage(.hello(.of(peer)), on: second, now: 1_006)
        #expect(directives.contains { if case .close(second, _) = $0.onLink { true } else { false } })
        #expect(!directives.contains { if case .send(.ping, _) = $0.onLink { true } else { false } })
        #expect(mesh.onMessage(answer, on: link, now: 1_010).count == 1)
        #expect(!mesh.onTimeLearned(link, now: 1_010).isEmpty)
    }

    @Test("Later answers go on telling the time")
    func laterAnswers() throws {
        var mesh = greeted()
        _ = mesh.onMessage(answer, on: link, now: 1_010)
        _ = mesh.onTimeLearned(link, now: 1_010)
        _ = mesh.onMessage(.ready, on: link, now: 1_010)
        let due = try #require(mesh.nextDeadline)
        #expect(mesh.onTimer(now: due) == [.send(.ping(due), on: link)])
        let pong = Message.pong(due, received: 1, answered: 2, .unsynchronised)
        let told = mesh.onMessage(pong, on: link, now: due + 3)
        #expect(told.count == 1)
        #expect(told.contains { if case .learnTime(_, .unsynchronised, peer, link) = $0 { true } else { false } })
    }

    @Test("Work that was shifted has another digest, and only in the own journal")
    func restamped() {
        var mesh = greeted()
        let head = JournalHead(sequence: 3, digest: 9)
        mesh.onRestamped(job: job, replica: ReplicaID(1), head: head, now: 1_010)
        #expect(mesh.vector(of: job)[ReplicaID(1)] == head)
        // What was committed after the step was quicker to be told of.
        let later = JournalHead(sequence: 4, digest: 11)
        _ = mesh.onCommitted(
            JournalSegment(replica: ReplicaID(1), first: 4, head: later, bytes: [0]), job: job, now: 1_011)
        mesh.onRestamped(job: job, replica: ReplicaID(1), head: head, now: 1_012)
        #expect(mesh.vector(of: job)[ReplicaID(1)] == later)
    }

    @Test("What was shifted is told of as well after the store has got another name, or before the mesh knows it")
    func restampedUnderOtherName() {
        var mesh = greeted()
        for (name, former) in [(5, 7), (1, 9)] as [(UInt128, UInt64)] {
            let head = JournalHead(sequence: 2, digest: JournalDigest(former + 1))
            _ = mesh.onCommitted(
                JournalSegment(
                    replica: ReplicaID(name), first: 1, head: JournalHead(sequence: 2, digest: JournalDigest(former)),
                    bytes: [0]),
                job: job, now: 1_010)
            mesh.onRestamped(job: job, replica: ReplicaID(name), head: head, now: 1_011)
            #expect(mesh.vector(of: job)[ReplicaID(name)] == head)
            _ = mesh.onRenewed(device: mesh.device, replica: ReplicaID(5), now: 1_012)
        }
    }

    @Test("A new job's first commit that is told of after its work was shifted does not bring the old digest back")
    func restampedBeforeTold() {
        let new = JobID(ItemID(99))
        var mesh = greeted()
        let head = JournalHead(sequence: 2, digest: 9)
        mesh.onRestamped(job: new, replica: ReplicaID(1), head: head, now: 1_010)
        let stale = JournalSegment(
            replica: ReplicaID(1), first: 1, head: JournalHead(sequence: 2, digest: 7), bytes: [0])
        #expect(mesh.onCommitted(stale, job: new, now: 1_011).isEmpty)
        #expect(mesh.vector(of: new)[ReplicaID(1)] == head)
    }
}
