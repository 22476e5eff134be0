import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Storage

/// Removed items come back.
///
/// A tombstone is final (rule R2): what comes back is a new item that names the one it stands for. Its id follows from that of the
/// old one, so that two who restore it make one. Removed in its turn it is stood for by another, and so on: a line of items, of
/// which one lives at most.
extension InventoryService {
    func restoreItem(_ item: String, job text: String) async throws -> Restored {
        try await answering {
            let job = try await living(text)
            let found = try await removed(item, in: job.id)
            while true {
                let line = try await line(of: found, in: job.id)
                guard line.members.contains(where: { $0.state.removed != nil }) else { throw Self.isThere(found) }
                if let living = line.living {
                    try checkCondition(found.state.tag, of: "Item \(found.id)")
                    return Restored(id: living.id.description, replaces: line.predecessor(of: living), isNew: false)
                }
                // Somebody at this laptop, or a peer, may have been faster: then the line is looked at again.
                if let restored = try await bringBack(line.last, found, in: job.id) { return restored }
            }
        }
    }

    private static func isThere(_ item: StoredItem) -> APIError {
        APIError(
            .itemNotRemoved,
            "\(item.state.label.map { "'\($0)'" } ?? "Item \(item.id)") is not removed, so there is nothing to restore; "
                + "'muster item list' shows it.")
    }

    /// - Returns: nil where the item that is to stand for the last one has come meanwhile: then nothing was written.
    private func bringBack(_ last: StoredItem, _ found: StoredItem, in job: JobID) async throws -> Restored? {
        let id = last.id.successor(0)
        var fields = last.state.fields.compactMap { field in
            field.register.winner.map { Edit.FieldValue(field: field.name, value: $0.value) }
        }.filter { $0.field != WellKnownField.replaces }
        fields.append(Edit.FieldValue(field: WellKnownField.replaces, value: last.id.description))
        let notes = last.state.notes.map { Edit.note(item: id, text: $0.text) }
        // Fields that came over time may be more than one change holds.
        let puts = stride(from: 0, to: fields.count, by: Self.fieldsPerChange).map { start in
            Edit.put(item: id, fields: Array(fields[start..<min(start + Self.fieldsPerChange, fields.count)]))
        }
        do {
            let result = try await store.edit(
                job: job, requires: .new, isAllOrNothing: true, now: { clock.now }, by: writer(.item(found.id)),
                puts + notes)
            return Restored(
                id: id.description, replaces: last.id.description, isNew: true,
                amends: await amendedJob(job, result))
        } catch EditRefusal.known {
            return nil
        }
    }

    /// Small enough that values of the greatest length fit a change.
    private static let fieldsPerChange = 6

    /// What names a removed item for a restore: its barcode where that is enough.
    func restoreReference(of item: ItemID, barcode: String?, in job: JobID) async throws -> String {
        guard let barcode, !barcode.hasPrefix("-"), ItemID(barcode) == nil else { return item.description }
        let others = try await store.items(job: job, withBarcode: barcode, removed: true)
        return others.allSatisfy { $0 == item } ? barcode : item.description
    }

    /// The removed item that is meant, or one that stands for it.
    ///
    /// - Throws: `itemNotRemoved` for an item that never was, `ambiguousItem` with what tells the fitting ones apart.
    private func removed(_ text: String, in job: JobID) async throws -> StoredItem {
        if let id = ItemID(text), id != .job, let state = try await store.item(id, job: job) {
            return StoredItem(id: id, state: state)
        }
        let barcode = FieldText.trimmed(text)
        var fitting = try await store.items(job: job, withBarcode: barcode, removed: true)
        // Living ones are told what they are: a barcode first, before it is taken for a part of somebody else's id.
        if fitting.isEmpty, try await !store.items(job: job, withBarcode: barcode).isEmpty {
            return try await resolve(item: text, job: job)
        }
        let isBarcode = !fitting.isEmpty
        if !isBarcode { fitting = try await ids(abbreviated: text, in: job, areRemoved: true) }
        guard !fitting.isEmpty else { return try await resolve(item: text, job: job) }
        // Items of one line are one thing, and what has come back already leaves the barcode to the others; whoever writes a part of an
        // id may mean either.
        var lines: [ItemLine] = []
        for id in fitting {
            guard let state = try await store.item(id, job: job) else { continue }
            let line = try await line(of: StoredItem(id: id, state: state), in: job)
            if !lines.contains(where: { $0.first == line.first }) { lines.append(line) }
        }
        let gone = lines.filter { $0.living == nil }
        let meant = gone.isEmpty || !isBarcode ? lines : gone
        guard meant.count == 1 else { throw ambiguous(text, meant) }
        return meant[0].last
    }

    private func ambiguous(_ text: String, _ lines: [ItemLine]) -> APIError {
        let described = lines.prefix(Self.mostCandidates).map { line in
            let last = line.last
            let day = last.state.removed.map { ", removed on \(String($0.stamp.timestamp.description.prefix(10)))" }
            return "\(last.id) (\(last.state.label ?? "no name")\(day ?? ""))"
        }
        let isGone = lines.contains { $0.living == nil }
        return APIError(
            .ambiguousItem,
            "'\(text)' fits \(lines.count) \(isGone ? "removed items" : "items"); name one by its id: "
                + "\(Self.list(described, of: lines.count)).",
            candidates: lines.prefix(Self.mostCandidates).map(\.last.id.description))
    }

    /// The line that an item is of.
    private func line(of item: StoredItem, in job: JobID) async throws -> ItemLine {
        var first = item
        // A person may have written any id there.
        while let id = first.state.value(of: WellKnownField.replaces).flatMap({ ItemID($0) }),
            let state = try await store.item(id, job: job), state.removed != nil
        {
            let before = StoredItem(id: id, state: state)
            let next = try await successors(of: before, in: job)
            guard next.contains(where: { $0.id == first.id }) else { break }
            first = before
        }
        var line = ItemLine(first: first)
        var waiting = [first]
        while let next = waiting.popLast() {
            let successors = try await successors(of: next, in: job)
            line.members += successors
            waiting += successors
        }
        return line
    }

    /// One mostly; older versions made a second one of the same item when the first was removed.
    private func successors(of item: StoredItem, in job: JobID) async throws -> [StoredItem] {
        var found: [StoredItem] = []
        while true {
            let id = item.id.successor(UInt64(found.count))
            guard let state = try await store.item(id, job: job) else { return found }
            found.append(StoredItem(id: id, state: state))
        }
    }
}

/// An item, what stood for it when it was removed, what stood for that, and so on.
private struct ItemLine {
    let first: StoredItem
    /// Behind whatever they stand for.
    var members: [StoredItem]

    init(first: StoredItem) {
        self.first = first
        members = [first]
    }

    /// The one that is there; of several the one that came last.
    var living: StoredItem? { members.last { $0.state.removed == nil } }

    /// What a new one stands for.
    var last: StoredItem { members.last ?? first }

    func predecessor(of item: StoredItem) -> String {
        item.state.value(of: WellKnownField.replaces) ?? first.id.description
    }
}
