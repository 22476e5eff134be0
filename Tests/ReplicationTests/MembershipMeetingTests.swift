import CRDT
import Simulation
import Testing

@testable import Replication

/// What two laptops tell each other of a job that one of them is not on.
extension MembershipTests {
    @Test(
        "Who is barred from a job and may assign, is named, or knows of it hears who is on it, and of its own journals")
    func barredButTold() throws {
        let own = JournalHead(sequence: 3, digest: JournalDigest(9))
        let theirs = VersionVector([VersionVector.Entry(replica: ReplicaID(2), head: own)])
        let bucket = UInt32(JobFingerprints.bucket(of: smith))
        let narrowed = try Self.roster(of: smith, on: [Self.anna])
        let named = try Self.roster(of: smith, on: [Self.anna], off: [Self.bert])
        for (access, roster, isTold) in [
            (JobAccess(Self.bert), narrowed, false), (JobAccess(Self.bert), named, true),
            (JobAccess(Self.bert, mayAssign: true), narrowed, true),
            (JobAccess(Self.bert, isInGrace: true, mayAssign: true), named, false),
        ] {
            var mesh = try anna(access: access, roster: roster)
            _ = mesh.onMessage(.ready, on: link, now: 0)
            let listed = leaks(mesh.onMessage(.summariesRequest(bucket: bucket), on: link, now: 0))
            let summary = JobSummary(job: smith, fingerprint: roster.fingerprint)
            #expect(listed == (isTold ? [.summaries(bucket: bucket, [summary])] : []))
            let answer = mesh.onMessage(.vectorRequest(job: smith), on: link, now: 1)
            let nothing = LinkDirective.send(.vector(job: smith, VersionVector(), end: nil), on: link)
            #expect(
                answer.compactMap(\.onLink) == (isTold ? [.send(.assignments(roster.statements), on: link)] : [])
                    + [nothing])
        }
        // What it has written there is in the number, so that a laptop that was set back hears that more of it is here.
        var mesh = try anna()
        _ = mesh.onMessage(.ready, on: link, now: 0)
        let run = JournalSegment(replica: ReplicaID(2), first: 1, head: own, bytes: [1, 2, 3])
        _ = mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 2)
        _ = mesh.onPersisted(run, job: smith, from: link, result: .stored, now: 3)
        let summary = JobSummary(job: smith, fingerprint: narrowed.fingerprint &+ theirs.fingerprint)
        let listed = leaks(mesh.onMessage(.summariesRequest(bucket: bucket), on: link, now: 4))
        #expect(listed == [.summaries(bucket: bucket, [summary])])
        let back = mesh.onMessage(.vectorRequest(job: smith), on: link, now: 5)
        #expect(back.contains(.send(.vector(job: smith, theirs, end: nil), on: link)))
    }

    @Test("A laptop that is not on a job asks who is how far it holds the laptop's own")
    func dismissed() throws {
        var mesh = try anna(roster: try Self.roster(of: smith, on: [Self.bert]))
        _ = mesh.onMessage(.ready, on: link, now: 0)
        _ = mesh.onMessage(.fingerprint(1), on: link, now: 0)
        let bucket = JobFingerprints.bucket(of: smith)
        var values = [UInt64](repeating: 0, count: JobFingerprints.bucketCount)
        values[bucket] = 1
        _ = mesh.onMessage(.buckets(values), on: link, now: 0)
        let asked = mesh.onMessage(.summaries(bucket: UInt32(bucket), []), on: link, now: 0)
        #expect(asked.contains(.send(.vectorRequest(job: smith), on: link)))
    }

    @Test("Who is connected when a job is made for others hears nothing of it")
    func made() throws {
        var mesh = try anna()
        for case .send(.fingerprint(let own), _) in mesh.onMessage(.ready, on: link, now: 0).compactMap(\.onLink) {
            _ = mesh.onMessage(.fingerprint(own), on: link, now: 0)
        }
        let brown = try #require(JobID("smith-2"))
        let roster = try Self.roster(of: brown, on: [Self.anna])
        #expect(mesh.onAssigned([(brown, roster)], from: nil, now: 1).isEmpty)
        let first = JournalSegment(
            replica: ReplicaID(1), first: 1, head: JournalHead(sequence: 1, digest: JournalDigest(8)), bytes: [1])
        #expect(leaks(mesh.onCommitted(first, job: brown, now: 2)).isEmpty && leaks(mesh.onTimer(now: 1_000)).isEmpty)
    }

    @Test("A peer off the job is asked for another's journal from the beginning, and is searched no fork with")
    func others() throws {
        var mesh = try anna(roster: try Self.roster(of: smith, on: [Self.anna], off: [Self.bert]))
        _ = mesh.onMessage(.ready, on: link, now: 0)
        let cleo = ReplicaID(3)
        let head = JournalHead(sequence: 4, digest: JournalDigest(4))
        let run = JournalSegment(replica: cleo, first: 1, head: head, bytes: [1, 2, 3, 4])
        _ = mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 1)
        _ = mesh.onPersisted(run, job: smith, from: link, result: .stored, now: 1)
        _ = mesh.onHoldingShown(smith, on: link)
        let claim = VersionVector.Entry(replica: cleo, head: JournalHead(sequence: 9, digest: JournalDigest(9)))
        let told = mesh.onMessage(.vector(job: smith, VersionVector([claim]), end: nil), on: link, now: 2)
        let from = told.compactMap(\.onLink).compactMap { directive -> UInt64? in
            guard case .send(.request(_, cleo, let from, _, _), _) = directive else { return nil }
            return from
        }
        #expect(from == [1])
        // What is held already makes room for what follows.
        let again = mesh.onMessage(.delta(job: smith, run, pushed: false), on: link, now: 3)
        let isCredit = again.compactMap(\.onLink).map { directive in
            if case .send(.credit(_, cleo, _), _) = directive { true } else { false }
        }
        #expect(isCredit == [true])
        let other = JournalSegment(
            replica: cleo, first: 4, head: JournalHead(sequence: 4, digest: JournalDigest(5)), bytes: [1])
        #expect(mesh.onMessage(.delta(job: smith, other, pushed: true), on: link, now: 4).isEmpty)
    }
}
