import CRDT
package import Replication
import Storage

/// Everything that a link would tell a laptop that holds nothing, message by message, as it is written to a file.
///
/// One message lies in memory at a time. As long as this lives, what is written here counts as seen (rule R5).
package actor CarriedOut {
    private let store: Store
    private let exposure: CarryExposure
    private var told = ToldAuthors()
    /// What is to be told next, the next one last.
    private var messages: [Message]
    private var jobs: [Mesh.CarriedJob]
    private var journals: [Journal] = []

    private struct Journal {
        let job: JobID
        let replica: ReplicaID
        var next: UInt64
        let end: UInt64
    }

    init(_ store: Store, _ exposure: CarryExposure, first: [Message], jobs: [Mesh.CarriedJob]) {
        self.store = store
        self.exposure = exposure
        messages = first.reversed()
        self.jobs = jobs.reversed()
    }

    /// The next one; nil after the last.
    ///
    /// - Throws: `StoreError`.
    package func next() async throws -> Message? {
        while true {
            if let message = messages.popLast() { return message }
            if let run = try await run() { return run }
            guard let job = jobs.popLast() else { return nil }
            let beginning =
                Message.assignments(of: job.statements) + [.vector(job: job.job, job.vector, end: job.end)]
            messages = beginning.reversed()
            journals = Self.journals(of: job).reversed()
        }
    }

    /// What went with a removed job is nowhere any more.
    private static func journals(of job: Mesh.CarriedJob) -> [Journal] {
        job.vector.entries.map { entry in
            let gone = job.end?.removal.heads[entry.replica].sequence ?? 0
            return Journal(job: job.job, replica: entry.replica, next: gone + 1, end: entry.head.sequence)
        }.filter { $0.next <= $0.end }
    }

    private func run() async throws -> Message? {
        while var journal = journals.popLast() {
            guard journal.next <= journal.end,
                var segment = try await store.segment(
                    of: journal.replica, job: journal.job, from: journal.next, maximumBytes: ProtocolLimits.deltaBytes)
            else { continue }
            journal.next = segment.head.sequence + 1
            journals.append(journal)
            if let author = segment.author, !told.insert(author) { segment.author = nil }
            return .delta(job: journal.job, segment, pushed: false)
        }
        return nil
    }
}

/// Work goes out of this laptop as long as one of these lives.
final class CarryExposure: Sendable {
    private let replicator: Replicator

    init(_ replicator: Replicator) { self.replicator = replicator }

    deinit { replicator.machine.begin { [replicator] in await replicator.endCarrying() } }
}
