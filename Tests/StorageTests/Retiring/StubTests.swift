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

    private func stubs(_ changes: some Sequence<Change>) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ChangeCodec.scan(changes.flatMap(ChangeCodec.encode)) { scanned, buffer in
            bytes += JournalStub(scanned, in: buffer).bytes
        }
        return bytes
    }

    @Test("Stubs continue what is held, also from within a run of them")
    func overlaps() async throws {
        let store = try store()
        let all = changes(10)
        let known = try segment(all[..<4].flatMap(ChangeCodec.encode))
        _ = try await store.ingest(known, job: Store.job, now: .anyTime)
        let base = try JournalDigest.extend(.empty, with: all[..<2].flatMap(ChangeCodec.encode))
        let run = try segment(stubs(all[2..<8]) + all[8...].flatMap(ChangeCodec.encode), after: base)
        guard case .stored(let head, _) = try await store.ingest(run, job: Store.job, now: .anyTime) else {
            Issue.record("stubs that reach further were not taken")
            return
        }
        #expect(try head == JournalDigest.extend(.empty, with: all.flatMap(ChangeCodec.encode)))
        #expect(try await store.live() == [1, 2, 3, 4, 9, 10].map { ItemID($0) })
        let inner = try segment(all[4..<6].flatMap(ChangeCodec.encode), after: JournalHead(sequence: 4, digest: 0))
        #expect(try await store.ingest(inner, job: Store.job, now: .anyTime) == .duplicate(head))
        let asked = try #require(
            try await store.segment(of: author, job: Store.job, from: 6, maximumBytes: .max))
        #expect(asked.first == 6)
        let copy = try self.store()
        _ = try await copy.ingest(
            try segment(all[..<5].flatMap(ChangeCodec.encode)), job: Store.job, now: .anyTime)
        _ = try await copy.ingest(asked, job: Store.job, now: .anyTime)
        #expect(try await copy.vector(of: Store.job) == store.vector(of: Store.job))
        #expect(try await copy.holdsWhatFoldsName(of: Store.job) == false, "no fold explains the stubs")
    }

    @Test("A fork is found although what follows it is folded away")
    func forkBeforeStub() async throws {
        let all = changes(6)
        var other = all[2]
        other.operations = [.append(list: "notes", entry: "what only this copy has")]
        let run = try segment(
            all[..<3].flatMap(ChangeCodec.encode) + stubs(all[3..<5]) + ChangeCodec.encode(all[5]))
        for count in 3...4 {
            let store = try store()
            let own = (all[..<2] + [other] + all[3...]).prefix(count)
            let known = try segment(own.flatMap(ChangeCodec.encode))
            _ = try await store.ingest(known, job: Store.job, now: .anyTime)
            #expect(try await store.ingest(run, job: Store.job, now: .anyTime) == .forked(known.head))
        }
    }

    @Test("A fork is found although the change that differs is folded away, and longer than its twin")
    func forkWithinStub() async throws {
        let store = try store()
        var all = changes(5)
        _ = try await store.ingest(
            try segment(all[..<3].flatMap(ChangeCodec.encode)), job: Store.job, now: .anyTime)
        all[2].operations.append(.set(field: "room", value: "Den", replaces: []))
        let run = try segment(
            all[..<2].flatMap(ChangeCodec.encode) + stubs(all[2...2]) + all[3...].flatMap(ChangeCodec.encode))
        guard case .forked = try await store.ingest(run, job: Store.job, now: .anyTime) else {
            Issue.record("two contents of one journal were taken for one")
            return
        }
        let boundary = try #require(try await store.boundary(of: author, job: Store.job, at: 3))
        #expect(boundary.head.sequence == 3)
    }

    @Test("A stub that does not lead to the digest that is claimed changes nothing")
    func hostile() async throws {
        let store = try store()
        for claimed in [5, 9] as [UInt64] {
            let lie = JournalSegment(
                replica: author, first: 1, head: JournalHead(sequence: claimed, digest: 1),
                bytes: JournalStub(count: 5, hash: 2).bytes)
            #expect(try await store.ingest(lie, job: Store.job, now: .anyTime) == .forked(.empty))
        }
        #expect(try await store.vectors().isEmpty)
    }
}
