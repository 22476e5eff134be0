import CRDT
import Engine
import Synchronization

/// A machine whose time only its owner moves, and whose chance comes from a seed: what is done on it alone, one thing after
/// the other, always has the same ids and times.
package final class StillMachine: Machine {
    private let elapsed = Mutex<Int64>(60_000_000)
    private let source: Mutex<SeededGenerator>
    private let start: Int64

    /// - Parameter milliseconds: since 1970, by its wall clock.
    package init(seed: UInt64, at milliseconds: Int64) {
        source = Mutex(SeededGenerator(seed: seed))
        start = milliseconds * 1_000 - 60_000_000
    }

    /// Microseconds since it was switched on.
    package var elapsedMicroseconds: Int64 { elapsed.withLock { $0 } }

    /// Its wall clock is never set.
    package var wallMicroseconds: Int64 { start + elapsedMicroseconds }

    /// It is switched on once.
    package var bootID: String { "the only boot" }

    /// The process's pool.
    package var executor: (any TaskExecutor)? { nil }

    /// Lets time pass. Nobody is woken by that.
    package func pass(milliseconds: Int64) {
        elapsed.withLock { $0 += milliseconds * 1_000 }
    }

    /// Waits until the task is cancelled: what comes by itself after a time never comes here.
    package func sleep(milliseconds: UInt64) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        // Whoever holds none of it any more would have been woken at once.
        continuation.finish()
        throw CancellationError()
    }

    /// The next number of its seed.
    package func random() -> UInt64 { source.withLock { $0.next() } }
}
