import Synchronization
import UnixSignals

/// Ctrl-C, or a polite kill, while rows are sent: says how far it has come, and ends as the signal would have ended it, so that a
/// script goes no further.
final class ImportInterruption: Sendable {
    private let rows = Mutex(0)

    /// So many rows are in the job, durably.
    func note(rows count: Int) {
        rows.withLock { $0 = count }
    }

    /// Runs the body; a signal meanwhile ends the program.
    func watch<Value>(_ body: () async throws -> Value) async throws -> Value {
        let watcher = Task {
            for await signal in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) {
                tell()
                Ending.end(by: signal)
            }
        }
        defer { watcher.cancel() }
        return try await body()
    }

    private func tell() {
        let count = rows.withLock { $0 }
        let sentence =
            "Stopped: \(count > 0 ? "at least " : "")\(counted(count, "row")) of the file \(count == 1 ? "is" : "are") "
            + "in the job. The same command goes on with the rest, and adds nothing twice."
        // In one write, in the place of the progress bar, which somebody else draws.
        StandardError.say(sentence, after: Terminal.error.isInteractive ? "\r\u{1B}[K" : "\n")
    }
}
