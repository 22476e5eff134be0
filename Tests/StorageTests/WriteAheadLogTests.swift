import CRDT
import Foundation
import Testing

@testable import Storage

@Suite("The write-ahead log", .timeLimit(.minutes(2)))
struct WriteAheadLogTests {
    @Test("It is moved home while the store is written, also where nobody tidies up")
    func bounded() async throws {
        let place = try Place()
        let store = try place.open()
        // SQLite by itself would let it grow to twice the length.
        let limit = WriteAheadLog.longest * 8192 * 3 / 2
        var longest = 0
        for item in 1...400 as ClosedRange<UInt128> {
            try await store.put(item, "name", String(repeating: "x", count: 60_000))
            longest = max(longest, try size(place.path() + "-wal"))
        }
        #expect(try size(place.path()) > limit, "more was written than the log may hold")
        #expect(longest > WriteAheadLog.longest * 8192 / 2, "it was in use")
        #expect(longest < limit)
        try store.close()
    }

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
}
