import Glibc
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
                Self.end(by: signal.number)
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

    /// As if nobody had waited for the signal. Whoever traps signals may take one more of them for its own (signalfd(2)), and then the
    /// kernel does nothing: so it is sent until this is over.
    static func end(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        for _ in 0..<1_000 {
            kill(getpid(), number)
            usleep(1_000)
        }
        _exit(128 + number)
    }
}

extension UnixSignal {
    var number: Int32 { self == .sigint ? SIGINT : SIGTERM }
}
