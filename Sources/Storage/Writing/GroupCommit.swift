import CoreMetrics
import GRDB
import Metering
import Synchronization

/// Runs writes one after another and commits those that wait together in one transaction.
///
/// A commit costs a flush to disk whatever is in it; sharing it among callers is worth a factor of ten under load and
/// costs a lone caller nothing. A write that throws is undone alone. A long one goes alone, and after it whatever is short: who
/// has a single edit does not wait for one long write after the other.
final class GroupCommit: Sendable {
    /// One write: runs inside the transaction, then tells its caller once the commit is durable or has failed.
    private struct Entry: Sendable {
        let isLong: Bool
        let run: @Sendable (Database) throws -> Void
        let finish: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct Queue {
        var waiting: [Entry] = []
        var isDraining = false
        /// Short ones went last: a long one is not held up by any number of them.
        var isLongDue = false
    }

    private let database: any DatabaseWriter
    /// Whether the file that is written is still the one that has the store's name.
    private let isInPlace: @Sendable () -> Bool
    private let queue = Mutex(Queue())
    let log = WriteAheadLog()
    let effects = TransactionEffects()
    /// See `Store.whenWritten`.
    let written = Mutex<WrittenListener?>(nil)
    private let counter: Counter

    init(
        database: any DatabaseWriter, isInPlace: @escaping @Sendable () -> Bool, metrics: any MetricsFactory
    ) {
        counter = metrics.counter(.commits)
        self.database = database
        self.isInPlace = isInPlace
    }

    /// How many writes wait for the next transaction.
    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Returns when the write is durable; throws when it had to be undone.
    ///
    /// - Parameters:
    ///   - isLong: it may take ten milliseconds or more.
    ///   - meanwhile: what the caller's thread does beside a writer that has to wake up.
    func write<Value: Sendable>(
        isLong: Bool = false, meanwhile: () -> Void = {}, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let value = Mutex<Value?>(nil)
            let entry = Entry(
                isLong: isLong,
                run: { db in
                    let result = try body(db)
                    value.withLock { $0 = result }
                },
                finish: { outcome in
                    switch (outcome, value.withLock { $0 }) {
                    case (.success, .some(let value)): continuation.resume(returning: value)
                    case (.failure(let error), _): continuation.resume(throwing: error)
                    case (.success, .none): preconditionFailure("a write that ran has a value")
                    }
                })
            let mustStart = queue.withLock { queue in
                queue.waiting.append(entry)
                defer { queue.isDraining = true }
                return !queue.isDraining
            }
            guard mustStart else { return }
            // In memory there is no disk to wait for.
            if database is DatabaseQueue {
                database.writeWithoutTransaction { db in self.drain(db) }
                written.withLock { $0 }?.tell()
            } else {
                database.asyncWriteWithoutTransaction { db in self.drain(db) }
                meanwhile()
            }
        }
    }

    // MARK: For tests

    /// From now on writes wait, until `release` commits them together.
    func hold() {
        // Not while the writer looks for a last time whether there is more: it would say then that it has ended.
        database.writeWithoutTransaction { _ in queue.withLock { $0.isDraining = true } }
    }

    func release() {
        database.writeWithoutTransaction { db in drain(db) }
        written.withLock { $0 }?.tell()
    }

    private func drain(_ db: Database) {
        while let batch = nextBatch() {
            var outcomes: [Result<Void, any Error>] = []
            // Of a store that was closed meanwhile nothing but the transaction itself may be asked.
            var changes = 0
            do {
                try db.inTransaction(.immediate) {
                    changes = db.totalChangesCount
                    // Who is alone is undone with the transaction.
                    if let alone = batch.first, batch.count == 1 {
                        try alone.run(db)
                        outcomes = [.success(())]
                        return .commit
                    }
                    for entry in batch {
                        let earlier = effects.count
                        let outcome = Self.run(entry, in: db)
                        if case .failure = outcome { effects.undo(after: earlier) }
                        // A full disk undoes the whole transaction, not only this write (SQLite's manual, "Response To
                        // Errors Within A Transaction"): whoever came before must hear of it, too.
                        if case .failure(let error) = outcome, !db.isInsideTransaction { throw error }
                        outcomes.append(outcome)
                    }
                    return .commit
                }
                // What went into a file that was deleted or replaced is gone with it.
                if !isInPlace() { throw StoreError.replacedFile }
                effects.commit()
                // Who only looks whether the writer goes on has changed nothing, and costs the disk nothing.
                if db.totalChangesCount != changes { counter.increment() }
            } catch {
                effects.undo()
                outcomes = batch.map { _ in .failure(error) }
            }
            for (entry, outcome) in zip(batch, outcomes) { entry.finish(outcome) }
            log.committed(db)
        }
    }

    private func nextBatch() -> [Entry]? {
        queue.withLock { queue in
            let short = queue.waiting.filter { !$0.isLong }
            if short.isEmpty || queue.isLongDue, let long = queue.waiting.firstIndex(where: \.isLong) {
                queue.isLongDue = false
                return [queue.waiting.remove(at: long)]
            }
            queue.waiting.removeAll { !$0.isLong }
            queue.isLongDue = !queue.waiting.isEmpty
            queue.isDraining = !short.isEmpty
            return short.isEmpty ? nil : short
        }
    }

    private static func run(_ entry: Entry, in db: Database) -> Result<Void, any Error> {
        do {
            try db.inSavepoint {
                try entry.run(db)
                return .commit
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
