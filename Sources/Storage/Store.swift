import Authorship
import CRDT
import CoreMetrics
import GRDB
import Inventory
import Outbox
import Synchronization
import Timekeeping

/// The durable state of one device. One process owns it; everything else asks that process.
///
/// Writes return when they are durable (rule R4). Reads see the last commit and never wait for a write.
package final class Store: Sendable {
    /// A pool on a file; a queue where the store lives in memory.
    let database: any DatabaseWriter
    let commits: GroupCommit
    let clock: Mutex<HybridLogicalClock>
    let ownName: Mutex<OwnName>
    /// Who signs, and whose signatures are met.
    let authors: Mutex<Authors>
    let hostName: String
    /// Some connection may carry this store's work away: what is written counts as seen.
    let isExposed = Mutex(false)
    /// Told in the transaction by which work without a known time becomes seen; see `whenShown`.
    let shown = Mutex<ShownNote?>(nil)
    /// Told of each commit; see `whenCommitted`.
    let committed = Mutex<CommittedListener?>(nil)
    /// Told of what a journal says in vain; see `whenPassedOver`.
    let passedOver = Mutex<PassedOverListener?>(nil)
    /// Whose words about who is on jobs count: the public key of its root; see `follow`.
    let fleet = Mutex<[UInt8]>([])
    /// How many were begun; see `JobTransaction.order`.
    let transactions = Mutex<UInt64>(0)
    /// Digests that were made and may not be written down, by the job's number.
    let digests = Mutex<[Int64: JobDigest]>([:])
    /// The same of totals that are not kept.
    let addedUp = Mutex<[Int64: AddedUp]>([:])
    /// Segments written one by one since the last time they were joined, per journal.
    let looseSegments = Mutex<[JournalKey: Int]>([:])
    /// What a simulated disk takes before and after each access; see `setLatency`.
    let latency = Mutex<Latency?>(nil)
    /// The store was found to be a copy when it was opened, and has become a new replica.
    package let wasCopied: Bool
    /// Whether the file that was opened still has the store's name.
    package let isInPlace: @Sendable () -> Bool
    private let witness: OpeningWitness?
    /// Tells this opening of a server's store from every other: what was numbered before, a backup may have undone.
    let opening: UInt64

    init(
        database: any DatabaseWriter, identity: StoreIdentity, clock: HybridLogicalClock, hostName: String,
        wasCopied: Bool, opening: UInt64, witness: OpeningWitness?, signer: (any JournalSigner)?,
        isInPlace: @escaping @Sendable () -> Bool, metrics: any MetricsFactory
    ) {
        authors = Mutex(Authors(signer: signer))
        self.witness = witness
        self.database = database
        self.isInPlace = isInPlace
        self.commits = GroupCommit(database: database, isInPlace: isInPlace, metrics: metrics)
        self.clock = Mutex(clock)
        self.ownName = Mutex(OwnName(committed: identity, writing: identity))
        self.hostName = hostName
        self.wasCopied = wasCopied
        self.opening = opening
    }

    /// Who this store is by its last commit. It changes when the store becomes a new replica (rule R9).
    package var identity: StoreIdentity { ownName.withLock { $0.committed } }
    /// Who writes in the transaction that is open, which may have given the store a new name that is not durable yet.
    var writingIdentity: StoreIdentity { ownName.withLock { $0.writing } }

    /// Waits for what is being written and closes the file.
    package func close() throws(StoreError) {
        // A copy that was made meanwhile is an old one from now on.
        if let witness, isInPlace() { Self.noteOpening(in: database, witness, Int64.random(in: 1 ... .max)) }
        do { try database.close() } catch { throw StoreError(error) }
    }

    /// Returns when the writer has come by, whether or not it can write: a full disk is no standstill.
    package func waitForWriter() async {
        try? await write { _ in }
    }

    /// Runs one write and turns what goes wrong into a `StoreError`, except refusals and codec errors.
    ///
    /// - Parameters:
    ///   - isLong: see `GroupCommit`.
    ///   - meanwhile: see `GroupCommit`.
    func write<Value: Sendable>(
        isLong: Bool = false, meanwhile: () -> Void = {}, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            let wait = latency.withLock { $0 }
            await wait?.pass()
            let value = try await commits.write(isLong: isLong, meanwhile: meanwhile, body)
            await wait?.pass()
            return value
        } catch let error as EditRefusal {
            throw error
        } catch let error as MutationRefusal {
            throw error
        } catch let error as CodecError {
            throw error
        } catch let error as ChannelIsSilent {
            throw error
        } catch {
            throw StoreError(error)
        }
    }

    /// One state of the store for as long as somebody reads; in memory, where nobody else writes meanwhile, the store itself.
    func snapshot() throws(StoreError) -> any DatabaseReader {
        guard let pool = database as? DatabasePool else { return database }
        do { return try pool.makeSnapshot() } catch { throw StoreError(error) }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let wait = latency.withLock { $0 }
        await wait?.pass()
        do {
            let value = try await database.readOneState(body)
            await wait?.pass()
            return value
        } catch {
            throw StoreError(error)
        }
    }
}

extension DatabaseReader {
    /// In memory nobody else writes meanwhile, and there is nothing to wait for: no thread is woken, and no statement
    /// compiled again for a connection that must not write.
    func readOneState<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self is DatabaseQueue ? readInPlace(body) : read(body)
    }

    private func readInPlace<Value>(_ body: (Database) throws -> Value) throws -> Value { try unsafeRead(body) }
}

/// What a clock is told, and what it wants kept.
///
/// A struct, because a function that stands in a `Mutex` by itself is wrapped in two more functions whenever somebody looks
/// at it, for good (Swift 6.3: the functions that translate between it and its generic form are never taken off again).
struct ShownNote: Sendable {
    let record: @Sendable () -> ClockRecord?
}

/// Who is told of what was written; a struct for the same reason.
struct WrittenListener: Sendable {
    let tell: @Sendable () -> Void
}

/// What a simulated disk takes; a struct for the same reason.
struct Latency: Sendable {
    let pass: @Sendable () async -> Void
}

/// Who a store is: what it tells others, and what it writes under. They differ while a transaction that renames it is open.
struct OwnName: Sendable {
    var committed: StoreIdentity
    var writing: StoreIdentity
}

/// Names one journal in this store's own numbers.
struct JournalKey: Hashable, Sendable {
    let job: Int64
    let replica: ReplicaID
}
