import CRDT
import Inventory
import Storage
import Testing

@Suite("A removal that came too late", .timeLimit(.minutes(1)))
struct LateRemovalTests {
    @Test("It stays out of the items on every laptop, in whatever order the journals come")
    func everyOrder() async throws {
        let place = try Place()
        let (anna, bert) = (try place.open("a"), try place.open("b"))
        let item = ItemID(1)
        _ = try await bert.edit(job: Store.job, createsJob: true, nowMilliseconds: 1_000, [.remove(item: item)])
        let whole = try await bert.whole()
        let beginning = try ChangeCodec.decodeAll(whole.bytes)[0]
        let bytes = ChangeCodec.encode(beginning)
        let head = try JournalDigest.extend(.empty, with: bytes)
        let known = JournalSegment(replica: whole.replica, first: 1, head: head, bytes: bytes)
        _ = try await anna.ingest(known, job: Store.job, now: .anyTime)
        _ = try await anna.expel(whole.replica, job: Store.job, now: .known(2_000))
        _ = try await anna.put(1, "condition", "e7", now: 3_000)
        let own = try await anna.whole()
        var exports: [String: [UInt8]] = [:]
        for (index, order) in [[own, whole], [whole, own], [known, own, whole], [own, known, whole]].enumerated() {
            let store = try place.open("c\(index)")
            for segment in order { _ = try await store.ingest(segment, job: Store.job, now: .anyTime) }
            exports["order \(index)"] = try await store.exported()
        }
        _ = try await anna.ingest(whole, job: Store.job, now: .anyTime)
        exports["anna"] = try await anna.exported()
        _ = try await bert.ingest(own, job: Store.job, now: .anyTime)
        exports["bert"] = try await bert.exported()
        for (name, export) in exports {
            #expect(String(decoding: export, as: UTF8.self).contains("e7"), "\(name)")
            #expect(export == exports["anna"], "\(name)")
        }
    }
}
