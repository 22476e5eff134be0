import CRDT
import Inventory
import Simulation
import Storage
import Testing

/// Laptops whose stores live in memory and hand each other what the test says.
final class Crew {
    var generator: SeededGenerator
    private(set) var stores: [Store] = []
    private(set) var now: UInt64 = 1_700_000_000_000

    init(_ count: Int, seed: UInt64 = 1) throws {
        generator = SeededGenerator(seed: seed)
        for _ in 0..<count { try join() }
    }

    @discardableResult
    func join(contents: [UInt8]? = nil) throws -> Store {
        let place = StorePlace(machine: "laptop \(stores.count)", file: "store")
        let store = try Store.openInMemory(
            contents: contents, place: place, hostName: "laptop \(stores.count)",
            signer: TestSigner(UInt64(stores.count)), generator: &generator)
        stores.append(store)
        return store
    }

    func tick() -> UInt64 {
        now += 1_000
        return now
    }

    func put(_ store: Store, _ item: UInt128, _ value: String, field: FieldName = "name") async throws {
        let fields = [Edit.FieldValue(field: field, value: value)]
        let result = try await store.edit(
            job: Store.job, createsJob: true, nowMilliseconds: tick(), [.put(item: ItemID(item), fields: fields)])
        if let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
    }

    func remove(_ store: Store, _ item: UInt128) async throws {
        let result = try await store.edit(
            job: Store.job, requires: .known, nowMilliseconds: tick(), [.remove(item: ItemID(item))])
        if let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
    }

    /// Everything to everybody, the ends of jobs first, as the mesh does.
    func exchange(_ chosen: [Store]? = nil) async throws {
        let stores = chosen ?? stores
        for _ in 0..<3 {
            for from in stores { for to in stores where from !== to { try await send(from, to) } }
        }
        for store in stores { #expect(try await store.integrityProblems() == []) }
    }

    func send(_ from: Store, _ to: Store) async throws {
        if let removal = try await from.removal(of: Store.job) {
            _ = try await to.takeRemoval(removal, of: Store.job, now: .anyTime, using: &generator)
        }
        try await Self.send(from, to)
    }

    func end(_ store: Store) async throws -> RemovedJob {
        let time = ReceiveTime.known(tick())
        return try await store.removeJob(Store.job, now: time)
    }

    func accept(_ store: Store, _ dots: [Dot]) async throws -> [Commit] {
        let time = ReceiveTime.known(tick())
        return try await store.acceptLate(dots, of: Store.job, now: time)
    }

    func drop(_ store: Store, _ dots: [Dot]) async throws -> Commit? {
        let time = ReceiveTime.known(tick())
        return try await store.dropLate(dots, of: Store.job, now: time)
    }

    func free(_ store: Store) async throws -> Int {
        var steps = 0
        while try await store.freeStep() { steps += 1 }
        return steps
    }

    /// Sends what the other lacks in pieces of at most `bytes`; `pieces` bounds how many of each journal.
    static func send(_ from: Store, _ to: Store, bytes: Int = .max, pieces: Int = .max) async throws {
        guard try await from.vectors().contains(where: { $0.job == Store.job }) else { return }
        for entry in try await from.vector(of: Store.job).entries {
            for _ in 0..<min(pieces, 1_000) {
                let held = (try? await to.vector(of: Store.job)[entry.replica].sequence) ?? 0
                guard held < entry.head.sequence,
                    let segment = try await from.segment(
                        of: entry.replica, job: Store.job, from: held + 1, maximumBytes: bytes)
                else { break }
                let result = try await to.ingest(segment, job: Store.job, now: .anyTime).result
                guard result == .stored else { throw Unexpected(result: result) }
            }
        }
    }

    struct Unexpected: Error { let result: IngestResult }
}

extension Store {
    /// A store and a clone that nothing tells from it.
    static func twins(using generator: inout some RandomNumberGenerator) throws -> (original: Store, clone: Store) {
        let original = try openInMemory(
            place: twinsPlace, hostName: "anna", signer: TestSigner(1), generator: &generator)
        return (original, try original.clone(using: &generator))
    }

    /// Another store with what one of `twins` holds, in the same place.
    func clone(using generator: inout some RandomNumberGenerator) throws -> Store {
        try Self.openInMemory(
            contents: try copy(), place: Self.twinsPlace, hostName: "anna", signer: TestSigner(1), generator: &generator
        )
    }

    private static let twinsPlace = StorePlace(machine: "laptop", file: "store")

    /// A whole journal: its own when no other is named.
    func whole(_ replica: ReplicaID? = nil) async throws -> JournalSegment {
        let replica = replica ?? identity.replica
        return try #require(try await segment(of: replica, job: Self.job, from: 1, maximumBytes: .max))
    }

    /// Items that show, ascending.
    func live() async throws -> [ItemID] {
        try await items(job: Self.job, limit: .max).filter { $0.state.removed == nil }.map(\.id)
    }

    func tombstones() async throws -> [ItemID] {
        try await items(job: Self.job, limit: .max).filter { $0.state.removed != nil }.map(\.id)
    }

    /// How many changes of an item stand in the journals.
    func changeCount(of item: ItemID) async throws -> Int {
        var count = 0
        for entry in try await vector(of: Self.job).entries {
            try ChangeCodec.scan(try await whole(entry.replica).bytes) { scanned, _ in
                if scanned.item == item { count += 1 }
            }
        }
        return count
    }

    func journalBytes() async throws -> Int {
        var bytes = 0
        for entry in try await vector(of: Self.job).entries {
            bytes += try await segment(of: entry.replica, job: Self.job, from: 1, maximumBytes: .max)?.bytes.count ?? 0
        }
        return bytes
    }
}
