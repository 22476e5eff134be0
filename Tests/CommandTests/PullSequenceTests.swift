import Dispatch
import LocalAPI
import LocalAPIServer
import Testing

@Suite("Pieces that are pulled")
struct PullSequenceTests {
    @Test("Half a list never looks like a whole one: whose task is cancelled gets an error")
    func cancelled() async {
        let pieces = Batches<Int> { [1] }
        let reader = Task {
            var taken = 0
            for try await piece in pieces {
                taken += piece.count
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return taken
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("They are worked out beside the thread of who asks for them")
    func beside() async throws {
        let thread = OneThread()
        let piece = try await withTaskExecutorPreference(thread) {
            #expect(thread.isCurrent)
            var pieces = Batches<Bool> { [thread.isCurrent] }.makeAsyncIterator()
            let piece = try await pieces.next()
            #expect(thread.isCurrent, "back again")
            return piece
        }
        #expect(piece == [false])
    }
}

/// As the event loop of the daemon.
private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "one thread")
    private let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: key, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
