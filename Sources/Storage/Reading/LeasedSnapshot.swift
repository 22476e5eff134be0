import GRDB
import Synchronization

/// One state of the store for as long as somebody reads it, but not for ever: meanwhile the write-ahead log cannot be
/// emptied, and it grows with every edit (SQLite's manual, "Write-Ahead Logging", section 6).
final class LeasedSnapshot: SnapshotLeases.Lease {
    /// Long enough for a million items to a file; who reads page by page has to write to a file first.
    static let lifetime = Duration.seconds(60)

    private enum State {
        case held(any DatabaseReader)
        case over
        /// Others had to write.
        case ended
    }

    private let reader: Mutex<State>
    private let end = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter leases: end it before its time where the log grows too long.
    init(_ reader: any DatabaseReader, lifetime: Duration, in leases: SnapshotLeases) {
        self.reader = Mutex(.held(reader))
        let end = Task { [weak self] in
            guard (try? await Task.sleep(for: lifetime)) != nil else { return }
            self?.giveBack(.over)
        }
        self.end.withLock { $0 = end }
        leases.add(self)
    }

    deinit { end.withLock { $0?.cancel() } }

    /// - Throws: `StoreError`, also when the time is over.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let reader: any DatabaseReader
        switch self.reader.withLock({ $0 }) {
        case .held(let held): reader = held
        case .over:
            throw StoreError(
                .readTooSlow,
                "It was not read within a minute, so it is incomplete; write it to a file first and read that.")
        case .ended:
            throw StoreError(
                .readTooSlow,
                "Too much was written meanwhile to keep what was read as it was, so it is incomplete; try again.")
        }
        do { return try await reader.readOneState(body) } catch { throw StoreError(error) }
    }

    func revoke() { giveBack(.ended) }

    private func giveBack(_ state: State) {
        // What is being read meanwhile is read to its end.
        reader.withLock { $0 = state }
    }
}
