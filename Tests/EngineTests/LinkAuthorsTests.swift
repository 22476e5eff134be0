import Authorship
import CRDT
import Testing

@testable import Engine
@testable import Simulation

@Suite("The authors that the two ends of a link have told each other")
struct LinkAuthorsTests {
    private func run(_ author: TestAuthor, tells: Bool) -> JournalSegment {
        let content = JournalSegment(
            replica: author.replica, first: 1, head: JournalHead(sequence: 1, digest: 1), bytes: [1])
        var run = author.sign(content, of: JobID(ItemID(7)))
        if !tells { run.author = nil }
        return run
    }

    @Test("What comes without an author has the one that was told before, until the store knows it")
    func completed() {
        var heard = HeardAuthors()
        let (anna, bert) = (TestAuthor(1), TestAuthor(2))
        #expect(heard.complete(run(anna, tells: false)).author == nil)
        #expect(heard.complete(run(anna, tells: true)).author == anna.author)
        #expect(heard.complete(run(anna, tells: false)).author == anna.author)
        #expect(heard.complete(run(bert, tells: false)).author == nil)
        heard.forget(run(anna, tells: false))
        #expect(heard.complete(run(anna, tells: false)).author == nil)
    }

    @Test("Whoever tells of authors without end fills no memory")
    func bounded() throws {
        var heard = HeardAuthors()
        let long = [[UInt8](repeating: 1, count: 4_096), [UInt8](repeating: 2, count: 4_096)]
        var (kept, runs): (Int, [JournalSegment]) = (0, [])
        for number in 1...2_000 as ClosedRange<UInt128> {
            let key = [UInt8](repeating: 1, count: 32)
            let author = try #require(JournalAuthor(key: key, nonce: number, certificates: long))
            let segment = JournalSegment(
                replica: author.replica, first: 1, head: JournalHead(sequence: 1, digest: 1), bytes: [1],
                author: author)
            var bare = segment
            bare.author = nil
            _ = heard.complete(segment)
            kept += heard.complete(bare).author == nil ? 0 : 1
            runs.append(bare)
        }
        #expect(kept * 8_192 <= HeardAuthors.most && kept > 900)
        heard.forget(runs[0])
        #expect(heard.complete(run(TestAuthor(1), tells: true)).author != nil)
        #expect(heard.complete(run(TestAuthor(1), tells: false)).author != nil, "there is room again")
    }

    @Test("Of two servers that write one channel each is known by its key")
    func servers() {
        var heard = HeardAuthors()
        let (former, later) = (TestAuthor(server: 1), TestAuthor(server: 2))
        #expect(former.replica == .channel && later.replica == .channel)
        _ = heard.complete(run(former, tells: true))
        #expect(heard.complete(run(later, tells: false)).author == nil)
        _ = heard.complete(run(later, tells: true))
        #expect(heard.complete(run(former, tells: false)).author == former.author)
        heard.forget(run(former, tells: false))
        #expect(heard.complete(run(later, tells: false)).author == later.author)
        #expect(heard.complete(run(former, tells: false)).author == nil)
    }

    @Test(
        "One who has joined a fleet since takes the place of the same without certificates, and not the other way round"
    )
    func joinedSince() throws {
        let (bare, certified) = (TestAuthor(1), TestAuthor(1, certificates: [[1], [2]]))
        try #require(bare.replica == certified.replica)
        var heard = HeardAuthors()
        _ = heard.complete(run(bare, tells: true))
        _ = heard.complete(run(certified, tells: true))
        #expect(heard.complete(run(bare, tells: false)).author == certified.author)
        _ = heard.complete(run(bare, tells: true))
        #expect(heard.complete(run(bare, tells: false)).author == certified.author)
        var told = ToldAuthors()
        #expect(
            [bare, bare, certified, certified, bare].map { told.insert($0.author) } == [
                true, false, true, false, false,
            ])
    }
}
