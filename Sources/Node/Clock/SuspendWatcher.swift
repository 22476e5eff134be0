import CTimerFD
import Dispatch
import Logging
import ServiceLifecycle
import Timekeeping

#if canImport(Glibc)
    import Glibc
#endif

/// Notices that the laptop has slept, a moment after it is awake again, and wakes up for nothing else: the kernel cancels a
/// timer of the wall clock then (TFD_TIMER_CANCEL_ON_SET). Whether it was a sleep, and not somebody who set the clock, the
/// machine's two other clocks say.
final class SuspendWatcher: Sendable {
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Milliseconds of each sleep, told after it; nothing where the kernel knows no such timer.
    func sleeps() -> AsyncStream<Int64> {
        let (stream, continuation) = AsyncStream<Int64>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let descriptor = openClockChanges()
        guard descriptor >= 0, awaitClockChange(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            logger.notice("whether the laptop sleeps cannot be seen", metadata: ["reason": "\(reason)"])
            return stream
        }
        let queue = DispatchQueue(label: "muster.suspend")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let watch = Watch(descriptor: descriptor, queue: queue, continuation: continuation)
        source.setEventHandler { watch.look() }
        source.setCancelHandler { close(descriptor) }
        watch.source = source
        continuation.onTermination = { _ in watch.cancel() }
        source.resume()
        return stream
    }

    /// Only touched on its queue.
    private final class Watch: @unchecked Sendable {
        private let descriptor: Int32
        private let queue: DispatchQueue
        private let continuation: AsyncStream<Int64>.Continuation
        private var detector = SuspendDetector(SystemClock.suspendReading)

        /// Set before anything else runs.
        var source: (any DispatchSourceRead)?

        init(descriptor: Int32, queue: DispatchQueue, continuation: AsyncStream<Int64>.Continuation) {
            self.descriptor = descriptor
            self.queue = queue
            self.continuation = continuation
        }

        func cancel() {
            queue.async { self.source?.cancel() }
        }

        func look() {
            // It fails with ECANCELED, and says nothing: the clocks are asked. What jumps after this is told by itself.
            var count: UInt64 = 0
            _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
            _ = awaitClockChange(descriptor)
            guard let slept = detector.onReading(SystemClock.suspendReading) else { return }
            continuation.yield(slept / 1_000)
        }
    }
}

/// What follows from a sleep, as a service of the daemon.
struct SuspendService: Service {
    let logger: Logger
    /// Called after each.
    let resumed: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await milliseconds in SuspendWatcher(logger: logger).sleeps() {
                logger.notice("the laptop has slept", metadata: ["milliseconds": "\(milliseconds)"])
                await resumed()
            }
        }
    }
}
