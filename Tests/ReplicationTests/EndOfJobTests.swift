import CRDT
import Simulation
import Testing

@testable import Replication

@Suite("Whose word ends a job")
struct EndOfJobTests {
    private let scene = MembershipTests()
    private var smith: JobID { scene.smith }
    private var link: LinkID { scene.link }

    /// What anna's laptop does when bert tells that the job has ended.
    private func told(
        _ roster: JobRoster, knowing words: UInt64, by access: JobAccess = JobAccess(MembershipTests.bert)
    ) throws -> (mesh: Mesh, answer: [MessageDirective]) {
        var mesh = try scene.anna(access: access, roster: roster)
        _ = mesh.onMessage(.ready, on: link, now: 0)
        // Of anna's journal, and of one more, bert holds more than she does: that has gone with the job.
        let gone = VersionVector(
            [ReplicaID(1), ReplicaID(3)].map { name in
                VersionVector.Entry(replica: name, head: JournalHead(sequence: 8, digest: JournalDigest(9)))
            })
        let end = ToldEnd(JobRemoval(name: "Smith", heads: gone), knowing: words)
        let answer = mesh.onMessage(.vector(job: smith, gone, end: end), on: link, now: 1)
        return (mesh, answer)
    }

    private func isTaken(_ answer: [MessageDirective]) -> Bool {
        answer.contains { if case .takeRemoval = $0 { true } else { false } }
    }

    private func requests(_ answer: [MessageDirective]) -> [Message] {
        answer.compactMap(\.onLink).compactMap { directive in
            guard case .send(let message, _) = directive, case .request = message else { return nil }
            return message
        }
    }

    @Test("Of a job that is everybody's anybody's")
    func everybodys() throws {
        #expect(isTaken(try told(JobRoster(), knowing: 0).answer))
        #expect(isTaken(try told(JobRoster(), knowing: 5).answer))
    }

    @Test(
        "Of one that is for some, that of who is on it and goes by the same words; who goes by others is told, and asked again"
    )
    func sameWords() throws {
        let roster = try MembershipTests.roster(of: smith, on: [MembershipTests.anna, MembershipTests.bert])
        #expect(isTaken(try told(roster, knowing: roster.fingerprint).answer))
        for words in [0, roster.fingerprint &+ 1] {
            let (_, answer) = try told(roster, knowing: words)
            #expect(!isTaken(answer))
            let sent = answer.compactMap(\.onLink)
            let ofWords = sent.firstIndex { if case .send(.assignments, _) = $0 { true } else { false } }
            let again = sent.lastIndex(of: .send(.vectorRequest(job: smith), on: link))
            #expect(ofWords != nil && again != nil)
            if let ofWords, let again { #expect(ofWords < again) }
            #expect(requests(answer).isEmpty, "what has gone there is not asked for")
        }
    }

    @Test("Who knows the words and goes on saying another number is not asked without end")
    func noEnd() throws {
        let roster = try MembershipTests.roster(of: smith, on: [MembershipTests.anna, MembershipTests.bert])
        var (mesh, _) = try told(roster, knowing: 0)
        let end = ToldEnd(JobRemoval(name: "Smith", heads: VersionVector()), knowing: 1)
        let again = mesh.onMessage(.vector(job: smith, VersionVector(), end: end), on: link, now: 2)
        #expect(!again.compactMap(\.onLink).contains(.send(.vectorRequest(job: smith), on: link)))
    }

    @Test("Nobody's who is not on it, which is noted once; the office's like that of who is on it")
    func outsider() throws {
        let roster = try MembershipTests.roster(of: smith, on: [MembershipTests.anna])
        var (mesh, answer) = try told(roster, knowing: roster.fingerprint)
        #expect(!isTaken(answer) && requests(answer).isEmpty)
        #expect(answer.contains(.noteRefusedEnd(smith, from: link)))
        let end = ToldEnd(JobRemoval(name: "Smith", heads: VersionVector()), knowing: roster.fingerprint)
        let again = mesh.onMessage(.vector(job: smith, VersionVector(), end: end), on: link, now: 2)
        #expect(!isTaken(again) && !again.contains(.noteRefusedEnd(smith, from: link)))
        let office = JobAccess(MembershipTests.bert, seesAllJobs: true)
        #expect(isTaken(try told(roster, knowing: roster.fingerprint, by: office).answer))
    }
}
