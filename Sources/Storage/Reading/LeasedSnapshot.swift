import GRDB
import Synchronization

/// One state of the store for as long as somebody reads it, but not for ever: meanwhile the write-ahead log cannot be
/// emptied, and it grows with every edit (SQLite's manual, "Write-Ahead Logging", section 6).
final class LeasedSnapshot: Sendable {
    /// Long enough for a million items to a file; who reads page by page has to write to a file first.
    static let lifetime = Duration.seconds(60)

    private let reader: Mutex<(any DatabaseReader)?>
    private let end = Mutex<Task<Void, Never>?>(nil)

    init(_ reader: any DatabaseReader, lifetime: Duration) {
        self.reader = Mutex(reader)
        let end = Task { [weak self] in
            guard (try? await Task.sleep(for: lifetime)) != nil else { return }
            self?.giveBack()
        }
        self.end.withLock { $0 = end }
    }

    deinit { end.withLock { $0?.cancel() } }

    /// - Throws: `StoreError`, also when the time is over.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        guard let reader = reader.withLock({ $0 }) else {
            throw StoreError(
                .readTooSlow,
                "It was not read within a minute, so it is incomplete; write it to a file first and read that.")
        }
        do { return try await reader.readOneState(body) } catch { throw StoreError(error) }
    }

    private func giveBack() {
        // What is being read meanwhile is read to its end.
        reader.withLock { $0 = nil }
    }
}
