import CRDT
import Foundation
import GRDB
import Inventory
import Synchronization
import Testing

@testable import Storage

@Suite("Room on the disk", .timeLimit(.minutes(2)))
struct RoomTests {
    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    private func fill(_ store: Store, _ items: ClosedRange<UInt128>) async throws {
        for start in stride(from: items.lowerBound, through: items.upperBound, by: 20) {
            let edits = (start..<min(start + 20, items.upperBound + 1)).map { item in
                let fields = [Edit.FieldValue(field: "name", value: String(repeating: "x", count: 20_000))]
                return Edit.put(item: ItemID(item), fields: fields)
            }
            _ = try await store.edit(job: Store.job, createsJob: true, nowMilliseconds: 1_000, edits)
        }
    }

    @Test("Who reads one state for long is told to begin anew before the log grows without bound")
    func longReads() async throws {
        let place = try Place()
        let store = try await place.open()
        try await fill(store, 1...40)
        // 24 MiB, so that the test writes no 256.
        let limit = 6_000
        store.commits.log.limit.store(limit, ordering: .relaxed)
        let cursor = try store.exportCursor(of: Store.job, lifetime: .seconds(600))
        _ = try await cursor.next()
        var longest = 0
        for round in 1...40 as ClosedRange<UInt128> {
            try await fill(store, (round * 1_000)...(round * 1_000 + 99))
            longest = max(longest, try size(place.path() + "-wal"))
        }
        #expect(longest > limit * 4_096, "the reader kept the log from beginning anew")
        #expect(longest < limit * 4_096 + 16 << 20, "and not for long: \(longest)")
        #expect(try size(place.path()) > 3 * longest, "much more was written")
        let error = await #expect(throws: StoreError.self) { while try await cursor.next() != nil {} }
        #expect(error?.code == .readTooSlow)
        #expect(error?.description.contains("try again") ?? false)
        let again = try store.exportCursor(of: Store.job)
        while try await again.next() != nil {}
    }

    @Test("A store shrinks when a job has ended, in steps for which nobody waits")
    func shrinks() async throws {
        let place = try Place()
        let store = try await place.open()
        try await fill(store, 1...2_000)
        try await store.truncateLog()
        let before = try size(place.path())
        _ = try await store.removeJob(Store.job, now: .anyTime)
        while try await store.freeStep() {}
        var steps = 0
        while try await store.returnFreePages() { steps += 1 }
        try await store.truncateLog()
        let after = try size(place.path())
        #expect(before > 40 << 20)
        #expect(after < 8 << 20, "\(before) became \(after)")
        #expect(steps > 10)
        #expect(try await store.integrityProblems().isEmpty)
        #expect(try await !store.returnFreePages(), "what is kept stays")
    }

    @Test("A store of an earlier version stays as long as it is, and uses its room again")
    func older() async throws {
        let place = try Place()
        let queue = try DatabaseQueue(path: place.path())
        try await queue.write { db in try db.execute(sql: "CREATE TABLE early (a); DROP TABLE early") }
        try queue.close()
        let store = try await place.open()
        try await fill(store, 1...400)
        _ = try await store.removeJob(Store.job, now: .anyTime)
        while try await store.freeStep() {}
        #expect(try await !store.returnFreePages())
    }
}
