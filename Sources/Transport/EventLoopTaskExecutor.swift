package import NIOCore
import NIOPosix

/// Runs tasks on an event loop's own thread.
///
/// An edit passes a socket, the mesh, the store and another socket: with a thread for each, waking one after the other
/// costs more than all their work. On one thread only the store's queue is another (see ARCHITECTURE.md, "Threads").
package final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    /// Takes a loop that outlives every task which prefers this executor.
    package init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The one loop of the process, for a daemon that shares it among everything. To be used before any other loop is.
    package static let shared: EventLoopTaskExecutor = {
        NIOSingletons.groupLoopCountSuggestion = 1
        return EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next())
    }()

    /// Runs the job on the loop's thread, behind what waits there. The runtime calls it from any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
