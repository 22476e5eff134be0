import CRDT
import Simulation
import Testing
import Timekeeping

@testable import Replication

@Suite("Who is on a job is told of it, and nobody else")
struct MembershipTests {
    static let anna = DeviceID(high: 0, low: 1)
    static let bert = DeviceID(high: 0, low: 2)
    static let lead = DeviceID(high: 9, low: 9)
    let smith = JobID("smith") ?? JobID(.job)
    let jones = JobID("jones") ?? JobID(.job)
    let link = LinkID(number: 1)
    let link2 = LinkID(number: 2)

    static func statement(
        of job: JobID, on: [DeviceID], off: [DeviceID] = [], at milliseconds: UInt64
    ) throws -> Assignment {
        let words = on.map { Assignment.Word($0, isOn: true) } + off.map { Assignment.Word($0, isOn: false) }
        return try #require(
            Assignment(
                of: job, words, stamp: Stamp(milliseconds: milliseconds, counter: 0), signer: lead, certificates: []
            ) { _ in [UInt8](repeating: 7, count: 64) })
    }

    static func roster(of job: JobID, on: [DeviceID], off: [DeviceID] = []) throws -> JobRoster {
        var roster = JobRoster()
        _ = roster.apply(try statement(of: job, on: on, off: off, at: 1))
        return roster
    }

    /// Anna's laptop, which holds two jobs, the first of them not for bert.
    func anna(
        access: JobAccess = JobAccess(MembershipTests.bert), roster: JobRoster? = nil
    ) throws -> Mesh {
        let head = JournalHead(sequence: 5, digest: JournalDigest(7))
        let vector = VersionVector([VersionVector.Entry(replica: ReplicaID(1), head: head)])
        let narrowed = try roster ?? Self.roster(of: smith, on: [Self.anna])
        var mesh = Mesh(
            device: Self.anna, replica: ReplicaID(1), instance: 1, name: "anna",
            jobs: [(smith, vector), (jones, vector)], rosters: [(smith, narrowed)])
        mesh.authors = [ReplicaID(1): Self.anna, ReplicaID(2): Self.bert]
        _ = mesh.onLinkOpened(link, with: access, isDialled: true, now: 0)
        _ = mesh.onMessage(.hello(.of(access.device)), on: link, now: 0)
        _ = mesh.onMessage(.pong(0, received: 0, answered: 0, .unsynchronised), on: link, now: 0)
        _ = mesh.onTimeLearned(link, now: 0)
        return mesh
    }

    /// Whatever names the job in what goes out.
    func leaks(_ directives: [some LinkDirecting]) -> [Message] {
        directives.compactMap(\.onLink).compactMap { directive in
            guard case .send(let message, _) = directive else { return nil }
            return "\(message)".contains("smith") ? message : nil
        }
    }

    @Test("A laptop that is not on a job gets no word of it, whatever it asks")
    func silent() throws {
        var mesh = try anna()
        var alone = try anna(roster: JobRoster())
        let whole = alone.onMessage(.ready, on: link, now: 0)
        var asked = mesh.onMessage(.ready, on: link, now: 0)
        #expect(asked != whole, "it is not even counted")
        let bucket = UInt32(JobFingerprints.bucket(of: smith))
        for message: Message in [
            .fingerprint(1), .bucketsRequest, .summariesRequest(bucket: bucket),
            .request(job: smith, replica: ReplicaID(1), from: 1, credit: 1 << 20, graft: true),
            .probe(job: smith, replica: ReplicaID(1), sequence: 3), .prune(job: smith),
            .forked(job: smith, replica: ReplicaID(1)),
            .credit(job: smith, replica: ReplicaID(1), bytes: 1 << 20),
        ] { asked += mesh.onMessage(message, on: link, now: 1) }
        let after = JournalSegment(
            replica: ReplicaID(1), first: 6, head: JournalHead(sequence: 6, digest: JournalDigest(8)), bytes: [1])
        let spread = mesh.onCommitted(after, job: smith, now: 2)
        let removal = JobRemoval(name: "Smith", heads: mesh.vector(of: smith))
        let removed = mesh.onJobRemoved(
            removal, of: smith, vector: mesh.vector(of: smith), replaced: [], order: 1, now: 3)
        let timers = (1...4).flatMap { mesh.onTimer(now: $0 * 2_000) }
        // The answer to a request for a vector, which names the job itself, is that of a laptop that holds nothing of it.
        let nothing = ProbeAnswer(sequence: 3, boundary: nil, changeHash: 0)
        let vectors = leaks(asked).filter {
            $0 != .vector(job: smith, VersionVector(), end: nil)
                && $0 != .probeAnswer(job: smith, replica: ReplicaID(1), nothing)
        }
        #expect(vectors.isEmpty)
        #expect(leaks(spread).isEmpty && leaks(removed).isEmpty && leaks(timers).isEmpty)
        for directive in asked {
            if case .answerProbe = directive { Issue.record("a probe is answered") }
            if case .stream(.load) = directive { Issue.record("a journal is read") }
        }
        #expect(
            mesh.onMessage(.reportRequest(job: smith, number: 3), on: link, now: 9)
                == [
                    .send(
                        .report(JobDigestReport(job: smith, number: 3, vector: VersionVector(), digest: [])), on: link)
                ])
    }

    @Test("The office, and who is on the job, hear who is on it before anything else of it")
    func told() throws {
        let statement = try Self.statement(of: smith, on: [Self.anna], at: 1)
        let dora = DeviceID(high: 3, low: 3)
        for (access, roster) in [
            (JobAccess(dora, seesAllJobs: true), nil),
            (JobAccess(Self.bert), try Self.roster(of: smith, on: [Self.anna, Self.bert])),
        ] {
            var mesh = try anna(access: access, roster: roster)
            _ = mesh.onMessage(.ready, on: link, now: 0)
            let said = roster?.statements ?? [statement]
            let answer = mesh.onMessage(.vectorRequest(job: smith), on: link, now: 1)
            #expect(
                answer == [
                    .send(.assignments(said), on: link),
                    .send(.vector(job: smith, mesh.vector(of: smith), end: nil), on: link),
                ])
            // Once.
            #expect(mesh.onMessage(.vectorRequest(job: smith), on: link, now: 2).count == 1)
        }
    }

    @Test("What a laptop that is not on the job has written is taken, and it hears how far")
    func taken() throws {
        var mesh = try anna()
        _ = mesh.onMessage(.ready, on: link, now: 0)
        let head = JournalHead(sequence: 3, digest: JournalDigest(9))
        let theirs = VersionVector([VersionVector.Entry(replica: ReplicaID(2), head: head)])
        let answer = mesh.onMessage(.vector(job: smith, theirs, end: nil), on: link, now: 1)
        #expect(
            answer.contains(
                .send(
                    .request(
                        job: smith, replica: ReplicaID(2), from: 1, credit: UInt32(MeshLimits.fetchWindowBytes),
                        graft: true), on: link)))
        let run = JournalSegment(replica: ReplicaID(2), first: 1, head: head, bytes: [1, 2, 3])
        #expect(
            mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 2)
                == [.persist(smith, run, from: link)])
        _ = mesh.onPersisted(run, job: smith, from: link, result: .stored, now: 3)
        let told = mesh.onTimer(now: 1_000).compactMap(\.onLink)
        #expect(told.contains(.send(.have(job: smith, theirs.entries), on: link)))
        // It has shown that it knew the job, and hears why nothing more comes.
        let statement = try Self.statement(of: smith, on: [Self.anna], at: 1)
        #expect(
            leaks(told) == [.assignments([statement]), .have(job: smith, theirs.entries)])
        // Its own journal, and no other, it may have back.
        let back = mesh.onMessage(.vectorRequest(job: smith), on: link, now: 4)
        #expect(back == [.send(.vector(job: smith, theirs, end: nil), on: link)])
        #expect(
            mesh.onMessage(
                .request(job: smith, replica: ReplicaID(2), from: 1, credit: 1 << 20, graft: false), on: link, now: 5)
                == [.stream(.load(smith, ReplicaID(2), from: 1, maximumBytes: ProtocolLimits.deltaBytes, for: link))])
    }

    @Test("Who claims to hold some of a job that it is not on does not hear how far it is held, nor that copies part")
    func claims() throws {
        let cleo = ReplicaID(3)
        var mesh = try self.anna()
        _ = mesh.onMessage(.ready, on: link, now: 0)
        let head = JournalHead(sequence: 4, digest: JournalDigest(4))
        let run = JournalSegment(replica: cleo, first: 1, head: head, bytes: [1, 2, 3, 4])
        _ = mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 1)
        _ = mesh.onPersisted(run, job: smith, from: link, result: .stored, now: 1)
        for sequence in [4, 9] as [UInt64] {
            let claim = JournalHead(sequence: sequence, digest: JournalDigest(99))
            let told = mesh.onMessage(
                .vector(
                    job: smith, VersionVector([VersionVector.Entry(replica: cleo, head: claim)]), end: nil),
                on: link, now: 2)
            for case .send(let message, _) in told.compactMap(\.onLink) {
                guard case .request(_, cleo, let from, _, _) = message else {
                    Issue.record("\(message)")
                    continue
                }
                #expect(from == 1)
            }
        }
    }

    @Test("Where copies part is not asked of whoever is not on the job, and not any more of whoever is taken off it")
    func forks() throws {
        let cleo = ReplicaID(3)
        let head = JournalHead(sequence: 4, digest: JournalDigest(4))
        let run = JournalSegment(replica: cleo, first: 1, head: head, bytes: [1, 2, 3, 4])
        let misfit = JournalSegment(
            replica: cleo, first: 5, head: JournalHead(sequence: 9, digest: JournalDigest(99)), bytes: [5, 6, 7, 8, 9])
        for isOn in [false, true] {
            var roster = try Self.roster(of: smith, on: isOn ? [Self.anna, Self.bert] : [Self.anna])
            var mesh = try anna(roster: roster)
            _ = mesh.onMessage(.ready, on: link, now: 0)
            let claim = VersionVector([VersionVector.Entry(replica: cleo, head: misfit.head)])
            _ = mesh.onMessage(.vector(job: smith, claim, end: nil), on: link, now: 1)
            _ = mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 1)
            _ = mesh.onPersisted(run, job: smith, from: link, result: .stored, now: 1)
            _ = mesh.onMessage(.delta(job: smith, misfit, pushed: false), on: link, now: 2)
            let told = mesh.onPersisted(misfit, job: smith, from: link, result: .forked(head), now: 2)
            let asked = leaks(told)
            #expect(asked.contains(.forked(job: smith, replica: cleo)) == isOn, "\(told)")
            #expect(asked.contains(.probe(job: smith, replica: cleo, sequence: 2)) == isOn, "\(told)")
            #expect(!"\(told)".contains("close("), "it may be no forger")
            guard isOn else {
                let other = JournalSegment(
                    replica: cleo, first: 1, head: JournalHead(sequence: 4, digest: JournalDigest(98)), bytes: [9])
                #expect(leaks(mesh.onMessage(.delta(job: smith, other, pushed: false), on: link, now: 3)).isEmpty)
                continue
            }
            _ = roster.apply(try Self.statement(of: smith, on: [], off: [Self.bert], at: 3))
            _ = mesh.onAssigned([(smith, roster)], from: nil, now: 3)
            let answer = ProbeAnswer(sequence: 2, boundary: JournalHead(sequence: 2, digest: 2), changeHash: 1)
            let step =
                mesh.onLookedUp(answer, job: smith, replica: cleo, now: 4).compactMap(\.onLink)
                + mesh.onMessage(.probeAnswer(job: smith, replica: cleo, answer), on: link, now: 4).compactMap(\.onLink)
            #expect(leaks(step).isEmpty)
        }
    }

    @Test("Who is put on a job gets it at once, and who is taken off gets the word and nothing more")
    func changes() throws {
        var mesh = try anna()
        _ = mesh.onMessage(.ready, on: link, now: 0)
        var roster = try Self.roster(of: smith, on: [Self.anna])
        let put = try Self.statement(of: smith, on: [Self.bert], at: 2)
        _ = roster.apply(put)
        let admitted = mesh.onAssigned([(smith, roster)], from: nil, now: 1)
        #expect(
            admitted == [
                .send(.assignments(roster.statements), on: link),
                .send(.vector(job: smith, mesh.vector(of: smith), end: nil), on: link),
                .send(.vectorRequest(job: smith), on: link),
            ])
        _ = mesh.onMessage(.vector(job: smith, VersionVector(), end: nil), on: link, now: 2)
        let load = mesh.onMessage(
            .request(job: smith, replica: ReplicaID(1), from: 1, credit: 1 << 20, graft: false), on: link, now: 3)
        #expect(!load.isEmpty)
        let off = try Self.statement(of: smith, on: [], off: [Self.bert], at: 3)
        _ = roster.apply(off)
        let dismissed = mesh.onAssigned([(smith, roster)], from: nil, now: 4)
        #expect(dismissed == [.send(.assignments(roster.statements), on: link)])
        let late = JournalSegment(
            replica: ReplicaID(1), first: 1, head: JournalHead(sequence: 5, digest: JournalDigest(7)), bytes: [1])
        #expect(
            mesh.onLoaded(late, job: smith, replica: ReplicaID(1), asked: 1, for: link, now: 5).isEmpty,
            "what was being read for it")
        let after = JournalSegment(
            replica: ReplicaID(1), first: 6, head: JournalHead(sequence: 6, digest: JournalDigest(8)), bytes: [1])
        #expect(leaks(mesh.onCommitted(after, job: smith, now: 6)).isEmpty)
        #expect(leaks(mesh.onTimer(now: 1_000)).isEmpty)
    }

    @Test("In its grace a laptop gets the jobs of which it shows that it holds some, and no others")
    func grace() throws {
        let access = JobAccess(Self.bert, isInGrace: true)
        var mesh = try anna(access: access, roster: try Self.roster(of: smith, on: [Self.anna, Self.bert]))
        let ready = mesh.onMessage(.ready, on: link, now: 0)
        let buckets = mesh.onMessage(.bucketsRequest, on: link, now: 0)
        #expect(
            buckets == [.send(.buckets([UInt64](repeating: 0, count: JobFingerprints.bucketCount)), on: link)])
        #expect(!"\(ready)".contains("jones"))
        // It says that it holds some, which is not so.
        let lie = JournalHead(sequence: 3, digest: JournalDigest(99))
        let claimed = VersionVector.Entry(replica: ReplicaID(1), head: lie)
        let doubted = mesh.onMessage(.vector(job: jones, VersionVector([claimed]), end: nil), on: link, now: 1)
        #expect(doubted.contains(.search(.checkHolding(jones, claimed, from: link))))
        #expect(!"\(doubted.compactMap(\.onLink))".contains("vector("))
        // What the store bears out.
        let shown = mesh.onHoldingShown(jones, on: link)
        #expect(shown.contains(.send(.vector(job: jones, mesh.vector(of: jones), end: nil), on: link)))
        // What stands here word for word.
        let equal = mesh.onMessage(.vector(job: smith, mesh.vector(of: smith), end: nil), on: link, now: 2)
        #expect(
            equal.compactMap(\.onLink).contains(
                .send(.vector(job: smith, mesh.vector(of: smith), end: nil), on: link)))
    }

    @Test("A reader ends no job")
    func reader() throws {
        var mesh = try anna(access: JobAccess(Self.bert, mayWrite: false))
        _ = mesh.onMessage(.ready, on: link, now: 0)
        let removal = JobRemoval(name: "Jones", heads: mesh.vector(of: jones))
        let told = mesh.onMessage(.vector(job: jones, mesh.vector(of: jones), end: ToldEnd(removal)), on: link, now: 1)
        for case .takeRemoval in told { Issue.record("the job is ended") }
    }

    @Test("News of who is on a job goes to those who may hear of it, and not back")
    func passedOn() throws {
        var mesh = try anna()
        for case .send(.fingerprint(let own), _) in mesh.onMessage(.ready, on: link, now: 0).compactMap(\.onLink) {
            _ = mesh.onMessage(.fingerprint(own), on: link, now: 0)
        }
        let office = DeviceID(high: 4, low: 4)
        mesh.meet(office, on: link2)
        let put = try Self.statement(of: jones, on: [Self.anna, office], at: 2)
        #expect(mesh.onMessage(.assignments([put]), on: link2, now: 1) == [.learnAssignments([put], from: link2)])
        var roster = JobRoster()
        _ = roster.apply(put)
        // Bert was on it as everybody was, and hears why he is not any more.
        #expect(
            mesh.onAssigned([(jones, roster)], from: link2, now: 1) == [.send(.assignments([put]), on: link)])
    }
}
