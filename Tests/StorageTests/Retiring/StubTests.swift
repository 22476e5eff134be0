import CRDT
import Inventory
import Storage
import Testing

@Suite("Stubs in the store", .timeLimit(.minutes(1)))
struct StubTests {
    private let author = ReplicaID(0xAA)

    private func changes(_ count: Int) -> [Change] {
        (1...count).map { number in
            Change(
                item: ItemID(UInt128(number)), stamp: Stamp(milliseconds: UInt64(number), counter: 0),
                operations: [.set(field: "name", value: "thing \(number)", replaces: [])])
        }
    }

    private func segment(_ bytes: [UInt8], after base: JournalHead = .empty) throws -> JournalSegment {
        JournalSegment(
            replica: author, first: base.sequence + 1, head: try JournalDigest.extend(base, with: bytes), bytes: bytes)
    }

    private func store() throws -> Store {
        try Crew(1).stores[0]
    }

    @Test("A stub that begins before what is held and ends after it is trimmed; whole records that end inside are old")
    func overlaps() async throws {
        let store = try store()
        let all = changes(10)
        let known = try segment(all[..<4].flatMap(ChangeCodec.encode))
        _ = try await store.ingest(known, job: Store.job, now: .anyTime)
        let base = try JournalDigest.extend(.empty, with: all[..<2].flatMap(ChangeCodec.encode))
        let reached = try JournalDigest.extend(.empty, with: all[..<8].flatMap(ChangeCodec.encode))
        let stub = JournalStub(count: 6, digest: reached.digest)
        let run = try segment(stub.bytes + all[8...].flatMap(ChangeCodec.encode), after: base)
        guard case .stored(let head, _) = try await store.ingest(run, job: Store.job, now: .anyTime) else {
            Issue.record("a stub that reaches further was not taken")
            return
        }
        #expect(try head == JournalDigest.extend(.empty, with: all.flatMap(ChangeCodec.encode)))
        #expect(try await store.live() == [1, 2, 3, 4, 9, 10].map { ItemID($0) })
        let inner = try segment(all[4..<6].flatMap(ChangeCodec.encode), after: JournalHead(sequence: 4, digest: 0))
        #expect(try await store.ingest(inner, job: Store.job, now: .anyTime) == .duplicate(head))
        // Whoever asks from within a stub gets all of it.
        let asked = try #require(
            try await store.segment(of: author, job: Store.job, from: 6, maximumBytes: .max))
        #expect(asked.first == 5)
        let copy = try self.store()
        _ = try await copy.ingest(known, job: Store.job, now: .anyTime)
        _ = try await copy.ingest(asked, job: Store.job, now: .anyTime)
        #expect(try await copy.vector(of: Store.job) == store.vector(of: Store.job))
        #expect(try await copy.holdsWhatFoldsName(of: Store.job) == false, "no fold explains the stub")
    }

    @Test("A stub that does not lead to the digest that is claimed, or leads too far, changes nothing")
    func hostile() async throws {
        let store = try store()
        let lie = JournalSegment(
            replica: author, first: 1, head: JournalHead(sequence: 5, digest: 1),
            bytes: JournalStub(count: 5, digest: 2).bytes)
        #expect(try await store.ingest(lie, job: Store.job, now: .anyTime) == .forked(.empty))
        let short = JournalSegment(
            replica: author, first: 1, head: JournalHead(sequence: 9, digest: 2),
            bytes: JournalStub(count: 5, digest: 2).bytes)
        #expect(try await store.ingest(short, job: Store.job, now: .anyTime) == .forked(.empty))
        let stub = JournalStub(count: 1 << 40, digest: 2).bytes
        let long = JournalSegment(
            replica: author, first: 1, head: JournalHead(sequence: 2 << 40, digest: 2), bytes: stub + stub)
        await #expect(throws: CodecError.self) { try await store.ingest(long, job: Store.job, now: .anyTime) }
        #expect(try await store.vectors().isEmpty)
    }
}
