import UnixSignals

/// Runs the body until it ends by itself or Ctrl-C (or a polite kill) comes; the latter is no error.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) { return }
        }
        group.addTask {
            do {
                try await body()
            } catch  where Task.isCancelled {
                // Whatever broke did so because it was told to stop.
            }
        }
        try await group.next()
        group.cancelAll()
        try await group.waitForAll()
    }
}
