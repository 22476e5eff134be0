import CRDT
import Foundation
import Inventory
import Testing

@testable import Storage

@Suite("The write-ahead log", .timeLimit(.minutes(2)))
struct WriteAheadLogTests {
    @Test("It is copied while the store is written, also where nobody tidies up")
    func bounded() async throws {
        let place = try Place()
        let store = try place.open()
        let limit = WriteAheadLog.longest * 8192 * 3 / 2
        var longest = 0
        for item in 1...800 as ClosedRange<UInt128> {
            try await store.put(item, "name", String(repeating: "x", count: 60_000))
            longest = max(longest, try size(place.path() + "-wal"))
        }
        #expect(try size(place.path()) > limit, "more was written than the log may hold")
        #expect(longest > WriteAheadLog.step * 8192 / 2, "it was in use")
        #expect(longest < limit)
        try store.close()
    }

    @Test("Where there are moments without a commit it begins anew after some steps, and the writer copies nothing")
    func besideWriters() async throws {
        let place = try Place()
        let store = try place.open()
        let limit = WriteAheadLog.longest * 8192
        var longest = 0
        for item in 1...600 as ClosedRange<UInt128> {
            try await store.put(item, "name", String(repeating: "x", count: 60_000))
            // As a person types: the other connection is done meanwhile.
            if item.isMultiple(of: 20) { try await store.commits.log.copyNow() }
            longest = max(longest, try size(place.path() + "-wal"))
        }
        #expect(try size(place.path()) > limit, "more was written than the log may hold")
        #expect(longest < limit / 2)
        try store.close()
    }

    @Test("Of batches, which leave no moment, the writer copies each few")
    func batches() async throws {
        let place = try Place()
        let store = try place.open()
        let limit = WriteAheadLog.longest * 8192
        for batch in 0..<12 as Range<UInt128> {
            let edits = (1...25).map { item in
                Edit.put(
                    item: ItemID(batch * 100 + item),
                    fields: [Edit.FieldValue(field: "name", value: String(repeating: "x", count: 60_000))])
            }
            _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 1_000, edits)
            #expect(try size(place.path() + "-wal") < limit / 2)
        }
        #expect(try size(place.path()) > limit, "more was written than the log may hold")
        try store.close()
    }

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
}
