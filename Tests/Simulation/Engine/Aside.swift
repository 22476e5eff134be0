import Synchronization

/// Runs a task from its beginning to its end while everything else stands still: for whoever looks at a store in the very
/// moment in which something became durable.
final class Aside: TaskExecutor, @unchecked Sendable {
    private var ready: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) { ready.append(UnownedJob(job)) }

    /// - Precondition: the task waits for nothing but reading a store in memory.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let aside = Aside()
        let result = Mutex<Result<Value, any Error>?>(nil)
        Task(executorPreference: aside) {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        while let job = aside.ready.popLast() { job.runSynchronously(on: aside.asUnownedTaskExecutor()) }
        guard let result = result.withLock({ $0 }) else {
            throw Violation("failure", "who looks at a store waits for somebody.")
        }
        return try result.get()
    }
}
