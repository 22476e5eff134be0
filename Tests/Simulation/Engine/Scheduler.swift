import CRDT
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Runs the tasks of a whole crew one at a time, on the thread that asks for it: which of the ready ones goes on next is
/// drawn from a seed, and time passes only when none is ready. So every interleaving that Swift's actors allow can come up,
/// and the same seed brings the same one.
///
/// All that the tasks do has to go on here: who resumes one from another thread ends the program, since no run could be
/// repeated then.
final class Scheduler: TaskExecutor, @unchecked Sendable {
    private struct Sleeper {
        let wakesAt: Int64
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// Microseconds of true time since the beginning.
    private(set) var now: Int64 = 0
    /// A running hash over what was chosen, and when.
    private(set) var trace: UInt64 = 0
    /// How often a task went on.
    private(set) var turns = 0
    /// For people who look at one history: gets a line for each thing that happens.
    var narrate: ((String) -> Void)?
    private var ready: [(job: UnownedJob, processor: Processor?)] = []
    /// In the order in which they wake up.
    private var sleepers: [Sleeper] = []
    private var sleeperCount: UInt64 = 0
    private var generator: SeededGenerator
    /// Somebody looks at a store in this very moment: no time passes for that.
    var isStandingStill = false
    private let thread = pthread_self()

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), on: nil) }

    /// - Parameter processor: nil for what belongs to no laptop.
    func add(_ job: UnownedJob, on processor: Processor?) {
        precondition(pthread_equal(thread, pthread_self()) != 0, "a simulated task was resumed by another thread")
        ready.append((job, processor))
    }

    /// - Parameter what: is not put together where nobody listens.
    func tell(_ what: @autoclosure () -> String) {
        narrate?("\(now / 1_000) ms  \(what())")
    }

    // MARK: Time

    /// Lets everything happen that is due until `time`.
    func run(until time: Int64) {
        runReady()
        while let next = sleepers.first, next.wakesAt <= time {
            sleepers.removeFirst()
            now = max(now, next.wakesAt)
            next.continuation.resume()
            runReady()
        }
        now = max(now, time)
    }

    private func runReady() {
        while !ready.isEmpty {
            let index = Int.random(in: 0..<ready.count, using: &generator)
            let (job, processor) = ready.remove(at: index)
            if let processor, processor.isAsleep {
                processor.keep(job)
                continue
            }
            turns += 1
            trace = (trace ^ UInt64(bitPattern: now) &+ UInt64(index)) &* 0x100_0000_01b3
            job.runSynchronously(on: processor?.asUnownedTaskExecutor() ?? asUnownedTaskExecutor())
        }
    }

    /// Begins a task and lets time pass until it is done.
    func finish<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let result = Mutex<Result<Value, any Error>?>(nil)
        Task(executorPreference: self) {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        while true {
            run(until: now)
            if let result = result.withLock({ $0 }) { return try result.get() }
            guard let next = sleepers.first else {
                throw Violation("liveness", "a task waits, and nothing will wake it.")
            }
            run(until: next.wakesAt)
        }
    }

    // MARK: Sleeping

    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func sleep(until time: Int64) async throws {
        sleeperCount += 1
        let number = sleeperCount
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                let place = sleepers.lastIndex { $0.wakesAt <= time }.map { $0 + 1 } ?? 0
                sleepers.insert(Sleeper(wakesAt: time, number: number, continuation: continuation), at: place)
            }
        } onCancel: {
            guard let place = sleepers.firstIndex(where: { $0.number == number }) else { return }
            sleepers.remove(at: place).continuation.resume(throwing: CancellationError())
        }
    }

    /// Lets so much time pass, whatever becomes of the task.
    func pass(microseconds: Int64) async {
        if !isStandingStill { try? await sleep(until: now + microseconds) }
    }
}
