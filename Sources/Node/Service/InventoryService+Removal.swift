import CRDT
import Engine
import Inventory
import LocalAPI
import Storage

/// Removals of many items, and of whole jobs.
extension InventoryService {
    func previewRemoval(_ request: RemovalRequest, job text: String) async throws -> Removed {
        try await answering {
            let job = try await living(text)
            // As the removal itself would look at it.
            try checkCondition(job.tag, of: "The job '\(job.name)'")
            let items = try await chosen(by: request, in: job).sorted()
            return Removed(
                removed: items.map(\.description), items: try await known(items, in: job.id), entityTag: job.tag)
        }
    }

    func removeItems(_ request: RemovalRequest, job text: String) async throws -> Removed {
        try await answering {
            let job = try await living(text)
            let items = try await chosen(by: request, in: job).sorted()
            if request.isConfirmed != true, MassRemoval.needsConfirmation(removing: items.count, of: job.items) {
                throw APIError(
                    .confirmationNeeded,
                    "This removes \(items.count) of the \(job.items) items in '\(job.name)' at once, for good, on every "
                        + "laptop; add --yes if so many are meant.")
            }
            guard !items.isEmpty else { return Removed(removed: []) }
            let result = try await store.edit(
                job: job.id, requires: .known, isAllOrNothing: true, now: { clock.now }, by: writer(.job),
                items.map { .remove(item: $0) })
            // They are gone, whether or not more can be told of them.
            return Removed(
                removed: items.map(\.description), items: (try? await known(items, in: job.id)) ?? [],
                amends: await amendedJob(job.id, result))
        }
    }

    /// - Throws: `jobRemoved` where nothing would match, or be listed, and it would be as if all were well.
    func living(_ text: String) async throws -> StoredJob {
        let job = try await resolve(job: text)
        guard job.isRemoved else { return job }
        let late = try await store.lateChanges(of: job.id).count
        let rest =
            late == 0
            ? "it has no items."
            : "'muster job late \(job.id)' shows \(late == 1 ? "the change that" : "\(late) changes that") came too late."
        throw APIError(.jobRemoved, "The job '\(job.name)' has been removed for good; \(rest)")
    }

    /// The first of them as people know them.
    func known(_ items: [ItemID], in job: JobID) async throws -> [RemovedItem] {
        var known: [RemovedItem] = []
        // Together they may have one barcode that none of them has alone.
        var barcodes: Set<String> = []
        for id in items.prefix(Removed.named) {
            let state = try await store.item(id, job: job)
            let texts = [WellKnownField.name, "title", WellKnownField.category].compactMap { state?.value(of: $0) }
            let barcode = state?.value(of: WellKnownField.barcode).flatMap { $0.isEmpty ? nil : $0 }
            known.append(
                RemovedItem(
                    id: id.description, name: texts.first { !$0.isEmpty }, barcode: barcode,
                    reference: try await restoreReference(of: id, barcode: barcode, in: job)))
            guard let barcode, !barcodes.insert(barcode).inserted else { continue }
            for index in known.indices where known[index].barcode == barcode {
                known[index].reference = known[index].id
            }
        }
        return known
    }

    private func chosen(by request: RemovalRequest, in job: StoredJob) async throws -> Set<ItemID> {
        var chosen: Set<ItemID> = []
        switch (request.items, request.matching) {
        case (let names?, nil):
            guard names.count <= ItemBatch.largest else {
                throw APIError(
                    .tooLarge, "A removal names \(ItemBatch.largest) items at most; send it in smaller ones.")
            }
            for name in names { chosen.insert(try await resolve(item: name, job: job.id).id) }
        case (nil, let fields?) where !fields.isEmpty:
            let filters = fields.map { FieldFilter(field: $0.key, value: $0.value) }
            chosen = try await ids(in: job.id, matching: filters)
        default:
            throw APIError(.invalidValue, "Give either 'items' or 'matching' with at least one field, not both.")
        }
        return chosen
    }

    func removeJob(_ text: String, isConfirmed: Bool) async throws -> Identified {
        try await answering {
            let job = try await resolve(job: text)
            guard isConfirmed else {
                throw APIError(
                    .confirmationNeeded,
                    "This removes the job '\(job.name)' with \(job.items) \(job.items == 1 ? "item" : "items") for good, on every laptop; add --yes "
                        + "if that is meant.")
            }
            try checkThatItIsOn(job.id)
            await replicator.jobRemoved(try await store.removeJob(job.id, now: clock.now, by: writer(.job)))
            return Identified(id: job.id.text)
        }
    }
}
