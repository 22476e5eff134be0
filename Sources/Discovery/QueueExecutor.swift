import Dispatch

/// Runs an actor on a serial dispatch queue, so that the queue's event handlers are already inside the actor
/// (`assumeIsolated`), and so that calls that block on the system bus hold up no thread of the cooperative pool.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
