package import CRDT
import Synchronization

/// Tells the outbox and the gateway which jobs have changed: each job once, however often it changed meanwhile.
package final class JobNews: Sendable {
    private let changed = Mutex<[JobID: UInt64]>([:])
    private let occasions: AsyncStream<Void>
    private let occasion: AsyncStream<Void>.Continuation
    private let outbox: OutboxDriver
    private let gateway: Gateway?

    /// - Parameter gateway: nil where this device has no way to the server.
    package init(outbox: OutboxDriver, gateway: Gateway?) {
        (occasions, occasion) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.outbox = outbox
        self.gateway = gateway
    }

    /// Never waits.
    ///
    /// - Parameter fingerprint: of the job's version vector.
    package func jobAdvanced(_ job: JobID, fingerprint: UInt64) {
        changed.withLock { $0[job] = fingerprint }
        occasion.yield()
    }

    /// Passes on what changes, until it is cancelled.
    package func run() async {
        for await _ in occasions {
            let jobs = changed.withLock { changed in
                defer { changed = [:] }
                return changed
            }
            for (job, fingerprint) in jobs.sorted(by: { $0.key < $1.key }) {
                await outbox.jobAdvanced(job)
                await gateway?.jobAdvanced(job, fingerprint: fingerprint)
            }
        }
    }
}
