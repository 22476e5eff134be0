import CRDT
import HTTPCoding
import Inventory
import Outbox
import ServerChannel
import Storage

/// What people in the office look at.
extension ChannelService {
    /// Of the items in one answer.
    private static let itemBytes = 512 << 10

    func job(_ job: JobID) async throws -> JobDocument {
        let totals = try await store.totals(of: job)
        let stored = try await store.job(job)
        let word = try await store.serverWord(on: job)
        let pending = try await store.pendingRequests(of: job)
        let sessions = try await store.workSessions(of: job)
        let published = word.published
        return JobDocument(
            id: job.text, name: stored.name, kind: stored.kind.rawValue,
            state: published[FieldName.jobState],
            published: Dictionary(published.map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first }),
            items: stored.items, removed: stored.removed, conflicts: stored.conflicts + totals.duplicateBarcodes,
            isRemoved: stored.isRemoved, digest: try await store.digest(of: job).text,
            cubicFeet: Double(totals.cubicFeet.rawValue) / 1_000,
            vector: VectorDocument(try await store.holdings(of: job)),
            pending: pending.map { asked in
                PendingDocument(
                    token: asked.request.token.description, lane: asked.request.lane,
                    priority: asked.request.priority, kind: asked.request.kind,
                    by: asked.write.author.description,
                    byName: stored.properties.value(of: JobProperty.author(asked.write.author)),
                    person: sessions.person(of: asked.write),
                    at: Timestamp(asked.write.stamp))
            })
    }

    /// Items that are not removed, ascending; fewer than `limit` when they are long.
    func items(of job: JobID, after: ItemID, limit: Int) async throws -> [ItemDocument] {
        let items = try await store.items(
            job: job, after: after, limit: limit, sufficientBytes: Self.itemBytes, withRemoved: false)
        let known = (stored: try await store.job(job), sessions: try await store.workSessions(of: job))
        return items.map { ItemDocument($0, of: known) }
    }
}
