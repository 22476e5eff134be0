import CRDT
import GRDB
import Inventory
import Synchronization

/// The durable state of one device. One process owns it; everything else asks that process.
///
/// Writes return when they are durable (rule R4). Reads see the last commit and never wait for a write.
package final class Store: Sendable {
    let pool: DatabasePool
    let commits: GroupCommit
    let clock: Mutex<HybridLogicalClock>
    let currentIdentity: Mutex<StoreIdentity>
    let hostName: String
    /// Some connection may carry this store's work away: what is written counts as seen.
    let isExposed = Mutex(false)
    /// Segments written one by one since the last time they were joined, per journal.
    let looseSegments = Mutex<[JournalKey: Int]>([:])
    /// The store was found to be a copy when it was opened, and has become a new replica.
    package let wasCopied: Bool

    init(pool: DatabasePool, identity: StoreIdentity, clock: HybridLogicalClock, hostName: String, wasCopied: Bool) {
        self.pool = pool
        self.commits = GroupCommit(pool: pool)
        self.clock = Mutex(clock)
        self.currentIdentity = Mutex(identity)
        self.hostName = hostName
        self.wasCopied = wasCopied
    }

    package var identity: StoreIdentity { currentIdentity.withLock { $0 } }

    /// Waits for what is being written and closes the file.
    package func close() throws(StoreError) {
        do { try pool.close() } catch { throw StoreError(error) }
    }

    /// Runs one write and turns what goes wrong into a `StoreError`, except refusals and codec errors.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await commits.write(body)
        } catch let error as EditRefusal {
            throw error
        } catch let error as CodecError {
            throw error
        } catch {
            throw StoreError(error)
        }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { return try await pool.read(body) } catch { throw StoreError(error) }
    }
}

/// Names one journal in this store's own numbers.
struct JournalKey: Hashable, Sendable {
    let job: Int64
    let replica: ReplicaID
}
