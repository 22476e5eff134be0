import Authorship
import CRDT
import Simulation
import Storage
import Testing

@Suite("What of a run is passed on")
struct PassedOnTests {
    /// Changes of one thing's name.
    private func run(_ names: [String], by author: TestAuthor) throws -> JournalSegment {
        let changes = names.map { name in
            Change(
                item: ItemID(5), stamp: Stamp(milliseconds: 1_000, counter: 0),
                operations: [.set(field: "name", value: name, replaces: [])])
        }
        return try author.segment(changes.flatMap(ChangeCodec.encode), of: Store.job)
    }

    @Test("What was held before is not passed on with what follows: nobody has looked at it again")
    func onlyNews() async throws {
        let place = try Place()
        let author = TestAuthor(7)
        let bert = try await place.open("bert")
        _ = try await bert.ingest(run(["a", "b"], by: author), job: Store.job, now: .anyTime)
        let all = try run(["a", "b", "c"], by: author)
        var bytes = all.bytes
        // Within the first change's value.
        bytes[bytes.count / 3 - 1] ^= 1
        let altered = JournalSegment(
            replica: all.replica, first: 1, head: all.head, bytes: bytes, signature: all.signature, author: all.author)
        let ingested = try await bert.ingest(altered, job: Store.job, now: .anyTime)
        #expect(ingested.result == .stored)
        let news = try #require(ingested.news)
        #expect(news.first == 3 && news.head == all.head && news.bytes == Array(all.bytes.suffix(news.bytes.count)))
        #expect(try ChangeCodec.decodeAll(news.bytes).count == 1)
    }
}
