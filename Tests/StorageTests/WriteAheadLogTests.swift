import CRDT
import Foundation
import Inventory
import Testing

@testable import Storage

@Suite("The write-ahead log", .timeLimit(.minutes(2)))
struct WriteAheadLogTests {
    /// Writes much, and tells how long the log became.
    private func longest(of commits: Int, items: UInt128) async throws -> Int {
        let place = try Place()
        let store = try await place.open()
        var longest = 0
        for commit in 0..<UInt128(commits) {
            let edits = (1...items).map { item in
                Edit.put(
                    item: ItemID(commit * 1_000 + item),
                    fields: [Edit.FieldValue(field: "name", value: String(repeating: "x", count: 60_000))])
            }
            _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 1_000, edits)
            longest = max(longest, try size(place.path() + "-wal"))
        }
        #expect(try size(place.path()) > WriteAheadLog.longest * 4096, "more was written than the log may hold")
        try store.close()
        return longest
    }

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test("Edits make it longer than batches may, and it is copied while they go on, also where nobody tidies up")
    func edits() async throws {
        let longest = try await longest(of: 800, items: 1)
        #expect(longest > WriteAheadLog.longest * 4096 * 3 / 4)
        #expect(longest < WriteAheadLog.longest * 4096 * 3 / 2)
    }

    @Test("Batches are copied soon")
    func batches() async throws {
        let longest = try await longest(of: 30, items: 15)
        #expect(longest > WriteAheadLog.step * 4096 / 2)
        #expect(longest < WriteAheadLog.longest * 4096 / 2)
    }

    @Test("What makes it long is told by the commits since it began")
    func due() {
        let log = WriteAheadLog()
        #expect((1...249).allSatisfy { !log.isDue($0 * 16) })
        #expect(log.isDue(4_000), "of edits")
        #expect(!log.isDue(16), "it has begun anew")
        #expect(!log.isDue(999))
        #expect(log.isDue(1_000), "of batches")
        #expect(log.isDue(1_100), "not copied: somebody reads")
    }
}
