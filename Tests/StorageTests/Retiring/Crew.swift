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
            contents: contents, place: place, hostName: "laptop \(stores.count)", generator: &generator)
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
            job: Store.job, requiresItems: true, nowMilliseconds: tick(), [.remove(item: ItemID(item))])
        if let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
    }

    func retire(_ store: Store) async throws -> Commit? {
        guard try await store.vectors().contains(where: { $0.job == Store.job }) else { return nil }
        let time = ReceiveTime.known(tick())
        return try await store.retire(job: Store.job, now: time)
    }

    /// Everything to everybody, and housekeeping until nobody has anything to say.
    ///
    /// - Returns: how many statements were written.
    func settle(_ chosen: [Store]? = nil, rounds: Int = 20) async throws -> Int {
        let stores = chosen ?? stores
        var statements = 0
        for _ in 0..<rounds {
            for from in stores { for to in stores where from !== to { try await Self.send(from, to) } }
            var written = 0
            for store in stores where try await retire(store) != nil { written += 1 }
            statements += written
            if written == 0 { return statements }
        }
        return -1
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
                let outcome = try await to.ingest(segment, job: Store.job, now: .anyTime)
                guard case .stored = outcome else { throw Unexpected(outcome: outcome) }
            }
        }
    }

    struct Unexpected: Error { let outcome: IngestOutcome }
}

extension Store {
    /// A store and a clone that nothing tells from it.
    static func twins(using generator: inout some RandomNumberGenerator) throws -> (original: Store, clone: Store) {
        let original = try openInMemory(place: twinsPlace, hostName: "anna", generator: &generator)
        return (original, try original.clone(using: &generator))
    }

    /// Another store with what one of `twins` holds, in the same place.
    func clone(using generator: inout some RandomNumberGenerator) throws -> Store {
        try Self.openInMemory(
            contents: try copy(), place: Self.twinsPlace, hostName: "anna", generator: &generator)
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
                if scanned.stub == nil, scanned.item == item { count += 1 }
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
