import CRDT
import Engine
import Inventory
import LocalAPI
import Storage

/// What is stamped later than it can be, for people (rule R6).
extension InventoryService {
    /// Of all jobs, by job and author.
    func futureWork() async throws -> [FutureWork] {
        struct Origin: Hashable {
            let job: JobID
            let author: ReplicaID
        }
        var work: [Origin: (changes: Int, latest: Stamp)] = [:]
        for change in try await store.futureChanges(nowMilliseconds: clock.now.milliseconds) where !change.isOnTop {
            let origin = Origin(job: change.job, author: change.author)
            let known = work[origin] ?? (0, .zero)
            work[origin] = (known.changes + 1, max(known.latest, change.stamp))
        }
        var jobs: [JobID: StoredJob] = [:]
        for job in Set(work.keys.map(\.job)) { jobs[job] = try await store.job(job) }
        return work.sorted { ($0.key.job, $0.key.author) < ($1.key.job, $1.key.author) }.map { origin, found in
            let job = jobs[origin.job]
            return FutureWork(
                job: origin.job.text, jobName: job?.name, by: origin.author.description,
                byName: job.flatMap { Self.hostName(of: origin.author, in: $0) }, changes: found.changes,
                latest: found.latest.timestamp)
        }
    }

    /// The fields of a job's items whose newest write is from the future.
    func futureEdits(of job: StoredJob) async throws -> [FutureEdit] {
        let now = clock.now.milliseconds
        let limit = HybridLogicalClock.limit(nowMilliseconds: now)
        var edits: [FutureEdit] = []
        let items = Set(try await store.futureChanges(of: job.id, nowMilliseconds: now).map(\.item))
        let authors = Authors(job: job, sessions: try await store.workSessions(of: job.id))
        for item in items.sorted() where item != .job {
            guard let state = try await store.item(item, job: job.id), state.removed == nil else { continue }
            for field in state.fields {
                guard let winner = field.register.winner, winner.write.stamp > limit else { continue }
                edits.append(
                    FutureEdit(
                        item: item.description, itemName: state.label, field: field.name.text,
                        written: authors.written(winner)))
            }
        }
        return edits
    }
}
