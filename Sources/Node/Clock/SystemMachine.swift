import Engine
import Transport

/// The machine that the daemon runs on.
struct SystemMachine: Machine {
    let executor: (any TaskExecutor)?

    var elapsedMicroseconds: Int64 { SystemClock.elapsedMicroseconds }
    var wallMicroseconds: Int64 { SystemClock.wallMicroseconds }
    var bootID: String { SystemClock.bootID }

    func sleep(milliseconds: UInt64) async throws {
        try await Task.sleep(for: .milliseconds(Int64(clamping: milliseconds)))
    }

    func random() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
