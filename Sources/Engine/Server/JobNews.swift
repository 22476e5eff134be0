import CRDT
import Synchronization

/// Tells the outbox and the gateway which jobs have changed: each job once, however often it changed meanwhile.
package final class JobNews: Sendable {
    private struct News {
        /// Of the job's version vector.
        var fingerprint: UInt64
        var concernsOutbox: Bool
    }

    private let changed = Mutex<[JobID: News]>([:])
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

    /// Never waits. What neither of them wants to know wakes nobody.
    package func jobAdvanced(_ advance: JobAdvance) {
        guard gateway != nil || advance.concernsOutbox else { return }
        let fingerprint = advance.vector.fingerprint
        changed.withLock { changed in
            let earlier = changed[advance.job]?.concernsOutbox ?? false
            changed[advance.job] = News(
                fingerprint: fingerprint, concernsOutbox: advance.concernsOutbox || earlier)
        }
        occasion.yield()
    }

    /// Passes on what changes, until it is cancelled.
    package func run() async {
        for await _ in occasions {
            let jobs = changed.withLock { changed in
                defer { changed = [:] }
                return changed
            }
            for (job, news) in jobs.sorted(by: { $0.key < $1.key }) {
                if news.concernsOutbox { await outbox.jobAdvanced(job) }
                await gateway?.jobAdvanced(job, fingerprint: news.fingerprint)
            }
        }
    }
}
