import Authorship
import CRDT
import Simulation
import Storage
import Testing

@Suite("The channel is taken only as a server has signed it", .timeLimit(.minutes(1)))
struct ServerJournalTests {
    private static let author = TestAuthor(server: 99)

    /// What the office has said: an answer for each of some requests.
    private func said(_ place: Place, requests: UInt128 = 3) async throws -> (office: Store, run: JournalSegment) {
        let office = try await DecisionTests.office(place)
        for number in 1...requests as ClosedRange<UInt128> {
            let request = DecisionTests.request(number, after: number > 1 ? number - 1 : nil)
            _ = try await office.decide(request, job: Store.job, now: .known(5_000), judge: DecisionTests.count)
        }
        let run = try await office.segment(of: .channel, job: Store.job, from: 1, maximumBytes: .max)
        return (office, try #require(run))
    }

    enum Forgery: CaseIterable {
        case noSignature, noKey, otherKey, otherHead, laptop, laptopsKey, noAuthor
    }

    @Test("What a server has not signed is refused, and nothing is changed by it", arguments: Forgery.allCases)
    func forged(_ forgery: Forgery) async throws {
        let place = try Place()
        let (_, run) = try await said(place)
        let anna = try await place.open("anna")
        let mallory = TestAuthor(66)
        var (head, signature, author) = (run.head, run.signature, run.author)
        switch forgery {
        case .noSignature: signature = nil
        case .noKey: signature = JournalSignature(Array(try #require(run.signature).value))
        // Signed well by a key, and said to be another one's.
        case .otherKey:
            let bytes = try #require(TestSigner(66).sign(run.head, of: .channel, job: Store.job)).value
            signature = JournalSignature(Array(bytes) + Self.author.author.key)
        case .otherHead: head = JournalHead(sequence: head.sequence, digest: 1)
        // A laptop writes no channel.
        case .laptop:
            signature = TestSigner(66).sign(run.head, of: .channel, job: Store.job)
            author = mallory.author
        case .laptopsKey: author = mallory.author
        case .noAuthor: author = nil
        }
        let lie = JournalSegment(
            replica: .channel, first: 1, head: head, bytes: run.bytes, signature: signature, author: author)
        let result = try await anna.ingest(lie, job: Store.job, now: .anyTime).result
        guard case .forged = result else { throw Unexpected(result: result) }
        #expect(try await anna.vectors().isEmpty)
        #expect(try await anna.ingest(run, job: Store.job, now: .anyTime).result == .stored)
    }

    struct Unexpected: Error {
        let result: IngestResult
    }

    @Test("A server does not write a laptop's journal, whatever its name")
    func serverAsLaptop() async throws {
        let place = try Place()
        let anna = try await place.open("anna")
        let name = Self.author.author.name
        let run = try Self.author.segment(TestAuthor(7).run(["Sofa"]).bytes, of: Store.job)
        for signature in [run.signature, TestSigner(99).sign(run.head, of: name, job: Store.job)] {
            let lie = JournalSegment(
                replica: name, first: 1, head: run.head, bytes: run.bytes, signature: signature, author: run.author)
            guard case .forged = try await anna.ingest(lie, job: Store.job, now: .anyTime).result else {
                Issue.record("it was taken")
                continue
            }
        }
    }

    @Test("Who holds the channel passes it on with the server's signature and its author, also when it is opened again")
    func passedOn() async throws {
        let place = try Place()
        let (_, run) = try await said(place)
        #expect(run.author == Self.author.author)
        var anna = try await place.open("anna")
        _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        try anna.close()
        anna = try await place.open("anna")
        let passedOn = try #require(
            try await anna.segment(of: .channel, job: Store.job, from: 1, maximumBytes: .max))
        #expect(passedOn == run)
        let bert = try await place.open("bert")
        #expect(try await bert.ingest(passedOn, job: Store.job, now: .anyTime).result == .stored)
    }

    @Test("Each answer is signed where it ends, however short it is cut", arguments: 1...4)
    func cutAnswers(limit: Int) async throws {
        let place = try Place()
        let (office, run) = try await said(place)
        let anna = try await place.open("anna")
        var held: UInt64 = 0
        while let next = try await office.channelRun(of: Store.job, after: held, limit: limit).segment {
            #expect(try await anna.ingest(next, job: Store.job, now: .anyTime).result == .stored)
            held = next.head.sequence
        }
        #expect(try await anna.vector(of: Store.job)[.channel] == run.head)
    }

    @Test("A server with another key goes on in the same channel, and answers for all of it")
    func otherKey() async throws {
        let place = try Place()
        let (office, run) = try await said(place)
        let anna = try await place.open("anna")
        _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        try office.close()
        let renewed = try await DecisionTests.office(place, key: 100)
        #expect(renewed.identity.replica == .channel && !renewed.wasCopied)
        _ = try await renewed.decide(
            DecisionTests.request(4, after: 3), job: Store.job, now: .known(6_000), judge: DecisionTests.count)
        let next = try #require(
            try await renewed.channelRun(of: Store.job, after: run.head.sequence, limit: 100).segment)
        #expect(next.author == TestAuthor(server: 100).author)
        #expect(try await anna.ingest(next, job: Store.job, now: .anyTime).result == .stored)
        let whole = try #require(try await anna.segment(of: .channel, job: Store.job, from: 1, maximumBytes: .max))
        #expect(whole.author == TestAuthor(server: 100).author)
        // What the former key has signed can still be had alone.
        let bert = try await place.open("bert")
        let former = try #require(try await anna.segment(of: .channel, job: Store.job, from: 1, maximumBytes: 1))
        #expect(former.author == Self.author.author)
        #expect(try await bert.ingest(former, job: Store.job, now: .anyTime).result == .stored)
    }

    @Test("Certificates that the fleet vouches for take the place of those that it does not, whoever told which first")
    func vouching() async throws {
        let place = try Place()
        let anna = try await place.open("anna")
        let wrong = TestAuthor(7, certificates: [[1]])
        let right = TestAuthor(7, certificates: [[2]])
        let run = try wrong.segment(wrong.run(["Sofa"]).bytes, of: Store.job)
        _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        let vouches: @Sendable (JournalAuthor) async -> Bool = { $0.certificates == [[2]] }
        #expect(try await anna.vouching(of: run, by: vouches) == .unvouched(wrong.author))
        var again = run
        again.author = right.author
        #expect(try await anna.vouching(of: again, by: vouches) == .vouched(right.author))
        again.author = nil
        #expect(try await anna.vouching(of: again, by: vouches) == .vouched(right.author), "it is kept")
        let passedOn = try await anna.segment(of: run.replica, job: Store.job, from: 1, maximumBytes: .max)
        #expect(passedOn?.author == right.author)
        // Another author than the run's is none.
        again.author = TestAuthor(8, certificates: [[2]]).author
        #expect(try await anna.vouching(of: again, by: vouches) == .vouched(right.author))
        var unknown = try TestAuthor(9).segment(wrong.run(["Sofa"]).bytes, of: Store.job)
        unknown.author = right.author
        #expect(try await anna.vouching(of: unknown, by: vouches) == .unnamed)
    }

    @Test("A server that was set back takes its own words back, and no others")
    func recovered() async throws {
        let place = try Place()
        let (_, run) = try await said(place)
        let setBack = try await DecisionTests.office(place, "backup")
        let forged = JournalSegment(
            replica: .channel, first: 1, head: run.head, bytes: run.bytes,
            signature: TestSigner(66).sign(run.head, of: .channel, job: Store.job), author: run.author)
        guard case .forged = try await setBack.recover(forged, job: Store.job, now: .anyTime).result else {
            Issue.record("it was taken")
            return
        }
        #expect(try await setBack.recover(run, job: Store.job, now: .anyTime).result == .stored)
        #expect(try await setBack.vector(of: Store.job)[.channel] == run.head)
    }
}
