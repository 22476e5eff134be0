import CTimerFD
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
        let events = DescriptorEvents(descriptor, label: "muster.suspend")
        let watch = Watch(descriptor: descriptor, continuation: continuation)
        continuation.onTermination = { _ in events.cancel() }
        events.start { watch.look() }
        return stream
    }

    /// Only touched on its queue.
    private final class Watch: @unchecked Sendable {
        private let descriptor: Int32
        private let continuation: AsyncStream<Int64>.Continuation
        private var detector = SuspendDetector(SystemClock.suspendReading)

        init(descriptor: Int32, continuation: AsyncStream<Int64>.Continuation) {
            self.descriptor = descriptor
            self.continuation = continuation
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
