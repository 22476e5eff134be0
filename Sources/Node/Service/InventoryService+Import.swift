import CRDT
import Engine
import Inventory
import LocalAPI
import Storage

/// Many items at once.
extension InventoryService {
    func addItems(_ batch: ItemBatch, job text: String) async throws -> BatchReport {
        try await answering {
            let job = try await living(text)
            let key = try batch.key.map(Self.field)
            guard key == nil || batch.items.allSatisfy({ $0.id == nil }) else {
                throw APIError(.invalidValue, "A batch has a key, or its items have ids: leave one of them out.")
            }
            var results = Array(repeating: BatchResult(outcome: .rejected), count: batch.items.count)
            let base = if let key { try await keys.items(of: job.id, by: key, in: store) } else { KeyCache.Known() }
            var known = base.items
            var generator = machine.generator
            var rowIDs = requestKey.map(RowIDs.init)
            var check = FieldCheck()
            // Per item that was chosen by its id.
            var isRemoved = try await store.removals(
                among: batch.items.compactMap { $0.id.flatMap { ItemID($0) } }, job: job.id)
            var edits: [Edit] = []
            var places: [Int] = []
            for (index, item) in batch.items.enumerated() {
                let request = FieldsRequest(fields: item.fields)
                let own = rowIDs?.next()
                do {
                    let chosen = try item.id.map(Self.itemID)
                    if let chosen, let isRemoved = isRemoved[chosen] {
                        results[index] = BatchResult(
                            outcome: isRemoved ? .removed : .unchanged, id: chosen.description)
                        continue
                    }
                    let fields = try Self.fields(request, key: key)
                    let value = key.flatMap { key in fields.first { $0.field == key }?.value }
                    if let key, value?.isEmpty ?? true {
                        throw APIError(.invalidValue, "The key '\(key)' is empty; give it a value.")
                    }
                    if let key, let value, base.doubled.contains(TextKey(value)) {
                        throw APIError(
                            .ambiguousItem,
                            "several items have the \(key) '\(value)': set each by its id, with 'muster item set'")
                    }
                    let existing = value.flatMap { known[TextKey($0)] }
                    if isResumed, let own, try await store.item(own, job: job.id) != nil {
                        results[index] = BatchResult(outcome: .added, id: own.description)
                        if let value { known[TextKey(value)] = own }
                        continue
                    }
                    // Of an item that is there null empties a field; a new one has none to empty.
                    let given = existing == nil ? try Self.fields(request, key: key, ofNewItem: true) : fields
                    guard !given.isEmpty else { throw EditRefusal.noFields }
                    let id = existing ?? chosen ?? own ?? ItemID(milliseconds: nowMilliseconds, using: &generator)
                    let edit = try await self.edit(given, of: id, isNew: existing == nil, job: job.id, by: &check)
                    if let value { known[TextKey(value)] = id }
                    if let chosen { isRemoved[chosen] = false }
                    results[index] = BatchResult(
                        outcome: edit == nil ? .unchanged : existing == nil ? .added : .updated, id: id.description)
                    if let edit {
                        edits.append(edit)
                        places.append(index)
                    }
                } catch let error as APIError {
                    results[index] = BatchResult(outcome: .rejected, reason: error.message)
                } catch let refusal as EditRefusal {
                    results[index] = BatchResult(outcome: .rejected, reason: refusal.sentence)
                } catch let refusal as FieldTextRefusal {
                    results[index] = BatchResult(outcome: .rejected, reason: refusal.sentence)
                } catch let doubt as FieldDoubt {
                    results[index] = BatchResult(outcome: .rejected, reason: doubt.sentence)
                }
            }
            var commits: [Commit] = []
            var isComplete = true
            var amends: AmendedJob?
            for start in stride(from: 0, to: edits.count, by: Self.editsPerCommit) {
                let range = start..<min(start + Self.editsPerCommit, edits.count)
                let made: EditResult
                do {
                    made = try await store.edit(job: job.id, now: { clock.now }, by: writer(), Array(edits[range]))
                } catch {
                    // What went before is durable, and told as such.
                    guard start > 0 else { throw error }
                    isComplete = false
                    for index in places[range] {
                        results[index] = BatchResult(outcome: .rejected, reason: StoreError(error).description)
                    }
                    continue
                }
                for (index, refusal) in zip(places[range], made.refusals) {
                    guard let refusal else { continue }
                    isComplete = false
                    results[index] = BatchResult(outcome: .rejected, reason: refusal.sentence)
                }
                if let commit = made.commit { commits.append(commit) }
                if amends == nil { amends = await amendedJob(job.id, made) }
            }
            if let key, isComplete { await keys.keep(known, of: job.id, by: key, from: base, after: commits) }
            return BatchReport(results: results, amends: amends)
        }
    }

    /// So many edits share a transaction: whoever scans in the meantime waits for no more.
    private static let editsPerCommit = 500

    /// The edit that gives an item these fields; nil when it has them already.
    private func edit(
        _ fields: [Edit.FieldValue], of item: ItemID, isNew: Bool, job: JobID, by check: inout FieldCheck
    ) async throws -> Edit? {
        let state = isNew ? nil : try await store.item(item, job: job)
        try doubt(fields, by: &check, in: state)
        guard !isNew else { return .put(item: item, fields: fields) }
        let changed = fields.filter { pair in
            state?.value(of: pair.field).map { !$0.utf8.elementsEqual(pair.value.utf8) } ?? true
        }
        return changed.isEmpty ? nil : .put(item: item, fields: changed)
    }
}

/// The ids of the rows of a request that may come again: each row has one, whatever becomes of it, and is known by it.
private struct RowIDs {
    private let began: UInt64
    private var generator: SeededGenerator

    init(_ key: RequestKey) {
        began = key.began
        generator = SeededGenerator(seed: key.seed)
    }

    mutating func next() -> ItemID { ItemID(milliseconds: began, using: &generator) }
}

/// Which item has which value of a key field, kept between the batches of one import.
actor KeyCache {
    struct Known: Sendable {
        var vector = VersionVector()
        var items: [TextKey: ItemID] = [:]
        /// Values that several items have: none of them is meant by such a one.
        var doubled: Set<TextKey> = []
    }

    private struct Entry {
        let job: JobID
        let key: FieldName
        let known: Known
    }

    private var entry: Entry?

    func items(of job: JobID, by key: FieldName, in store: Store) async throws -> Known {
        let vector = try await store.vector(of: job)
        if let entry, entry.job == job, entry.key == key, entry.known.vector == vector { return entry.known }
        // Gone before the new one is made, so that a large job is not held twice.
        entry = nil
        var known = Known(vector: vector)
        let cursor = try store.itemCursor(of: job)
        while let batch = try await cursor.next() {
            for item in batch where item.state.removed == nil {
                guard let value = item.state.value(of: key) else { continue }
                // Compared as it would be entered: what came otherwise may have white space around it.
                let text = TextKey(FieldText.trimmed(value))
                if known.items.updateValue(item.id, forKey: text) != nil { known.doubled.insert(text) }
            }
        }
        entry = Entry(job: job, key: key, known: known)
        return known
    }

    /// After a batch was written: what it added is known too, unless anybody else wrote in between.
    func keep(
        _ items: [TextKey: ItemID], of job: JobID, by key: FieldName, from base: Known, after commits: [Commit]
    ) {
        var vector = base.vector
        for segment in commits.map(\.segment) {
            guard segment.first == vector[segment.replica].sequence + 1 else {
                entry = nil
                return
            }
            vector.advance(segment.replica, to: segment.head)
        }
        entry = Entry(job: job, key: key, known: Known(vector: vector, items: items, doubled: base.doubled))
    }
}
