import CRDT
import GRDB
import Inventory
import Synchronization
import Testing

@testable import Storage

@Suite("The name of a store that becomes a new replica", .timeLimit(.minutes(1)))
struct OwnNameTests {
    @Test("Others hear of it once it is durable; what is written in the same transaction has it already")
    func nobodyHearsEarlier() async throws {
        let place = try Place()
        let store = try await place.open()
        let former = store.identity.replica
        let renewal = await Self.holdRenewal(of: store)
        let look = Task { try await store.write { _ in (store.identity.replica, store.writingIdentity.replica) } }
        while store.waitingWriteCount < 2 { await Task.yield() }
        store.releaseWrites()
        #expect(try await renewal.value)
        let (told, writing) = try await look.value
        #expect(told == former && writing != former)
        #expect(store.identity.replica == writing && store.writingIdentity == store.identity)
    }

    /// What comes after the renewal in its transaction, and undoes both.
    enum Failure: CaseIterable { case fullDisk, failedCommit }

    @Test("Where SQLite itself undoes the transaction, the store stays who it was", arguments: Failure.allCases)
    func undone(by failure: Failure) async throws {
        let place = try Place()
        let store = try await place.open()
        try await store.put(1, "name", "Sofa")
        let former = store.identity
        try await store.write { try $0.execute(sql: "CREATE TABLE filler (bytes BLOB)") }
        try await store.limit(toFurtherPages: 4)
        let renewal = await Self.holdRenewal(of: store)
        let last = Task {
            try await store.write { db in
                switch failure {
                case .fullDisk: try db.execute(sql: "INSERT INTO filler VALUES (zeroblob(60000))")
                case .failedCommit:
                    // A reference that leads nowhere is seen at the commit.
                    try db.execute(
                        sql: """
                            PRAGMA defer_foreign_keys = ON;
                            CREATE TABLE here (id INTEGER PRIMARY KEY);
                            CREATE TABLE there (id INTEGER REFERENCES here (id) DEFERRABLE INITIALLY DEFERRED);
                            INSERT INTO there VALUES (1)
                            """)
                }
            }
        }
        while store.waitingWriteCount < 2 { await Task.yield() }
        store.releaseWrites()
        await #expect(throws: StoreError.self) { try await last.value }
        await #expect(throws: StoreError.self, "it shared a transaction that was undone") { try await renewal.value }
        #expect(store.identity == former && store.writingIdentity == former)

        // The next transaction is another one.
        try await store.limit(toFurtherPages: 1_000)
        try await store.put(2, "name", "Table")
        #expect(store.identity == former && store.writingIdentity == former)
        #expect(try await store.vector(of: Store.job).entries.map(\.replica) == [former.replica])
        #expect(try await Self.renew(store, former.replica).value, "it can still be renewed")
        let renewed = store.identity
        #expect(renewed.replica != former.replica)
        try store.close()
        #expect(try await place.open().identity == renewed)
    }

    @Test("A write that is undone alone takes back only what it has changed itself")
    func undoneAlone() async throws {
        let place = try Place()
        let store = try await place.open()
        let former = store.identity.replica
        let renewal = await Self.holdRenewal(of: store)
        let refused = Task {
            try await store.write { _ in
                store.commits.effects.add(onUndo: { store.isExposed.withLock { $0 = true } })
                throw EditRefusal.noFields
            }
        }
        while store.waitingWriteCount < 2 { await Task.yield() }
        store.releaseWrites()
        await #expect(throws: EditRefusal.self) { try await refused.value }
        #expect(store.isExposed.withLock { $0 }, "undone")
        #expect(try await renewal.value)
        #expect(store.identity.replica != former)
    }

    /// Whatever is written next shares the renewal's transaction, which begins when the writes are released.
    private static func holdRenewal(of store: Store) async -> Task<Bool, any Error> {
        store.holdWrites()
        let renewal = renew(store, store.identity.replica)
        while store.waitingWriteCount < 1 { await Task.yield() }
        return renewal
    }

    private static func renew(_ store: Store, _ former: ReplicaID) -> Task<Bool, any Error> {
        Task {
            var generator = SeededGenerator(seed: 2)
            return try await store.renewReplica(former, using: &generator)
        }
    }
}
