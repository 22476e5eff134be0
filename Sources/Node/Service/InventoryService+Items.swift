import CRDT
import Engine
import Inventory
import LocalAPI
import LocalAPIServer
import Storage

/// Single items.
extension InventoryService {
    func items(job text: String, matching filters: [FieldFilter], as form: ElementForm) async throws -> Chunks {
        try await answering {
            let job = try await living(text)
            let lines = ItemLines(as: form, matching: try Self.wanted(filters)) { Self.hostName(of: $0, in: job) }
            let cursor = try store.exportCursor(of: job.id, as: lines)
            return Chunks { try await cursor.next() }
        }
    }

    func items(
        job text: String, matching filters: [FieldFilter], after: String?, limit: Int
    ) async throws -> (items: [ItemView], hasMore: Bool) {
        try await answering {
            let job = try await living(text)
            let wanted = try Self.wanted(filters)
            guard var last = after.map({ ItemID($0) }) ?? .job else {
                throw APIError(.cursorGone, "What 'after' names is no item's id: begin the list anew.")
            }
            var items: [ItemView] = []
            while true {
                let stored = try await store.items(
                    job: job.id, after: last, limit: Self.itemsPerRead, withRemoved: false)
                for item in stored where Self.fits(item, wanted) {
                    if items.count == limit { return (items, true) }
                    items.append(ItemView(item, in: job))
                }
                guard stored.count == Self.itemsPerRead, let end = stored.last else { return (items, false) }
                last = end.id
            }
        }
    }

    private static let itemsPerRead = 256

    /// An emptied field and none at all are the same to people.
    private static func fits(_ item: StoredItem, _ filters: [(field: FieldName, value: String)]) -> Bool {
        filters.allSatisfy { FieldText.isSame(item.state.value(of: $0.field) ?? "", $0.value) }
    }

    /// The ids of items that are not removed and match every filter.
    ///
    /// - Throws: `APIError` where a field is to be empty that no item has: most likely its name is mistyped, and each item would match.
    func ids(in job: JobID, matching filters: [FieldFilter]) async throws -> Set<ItemID> {
        let wanted = try Self.wanted(filters)
        let empty = wanted.filter { $0.value.isEmpty && !WellKnownField.all.contains($0.field.text) }
        var unseen = Set(empty.map(\.field))
        let cursor = try store.itemCursor(of: job)
        var ids: Set<ItemID> = []
        while let batch = try await cursor.next() {
            for item in batch where item.state.removed == nil {
                if !unseen.isEmpty { unseen.subtract(item.state.fields.map(\.name)) }
                if Self.fits(item, wanted) { ids.insert(item.id) }
            }
        }
        if let name = unseen.min(), !ids.isEmpty {
            throw APIError(
                .invalidValue, "No item of this job has a field '\(name)', so all would be meant: leave it out.")
        }
        return ids
    }

    private static func wanted(_ filters: [FieldFilter]) throws -> [(field: FieldName, value: String)] {
        try filters.map { (field: try filterField($0.field), value: $0.value) }
    }

    func item(_ item: String, job text: String) async throws -> ItemDetails {
        try await answering {
            let job = try await resolve(job: text)
            let found = try await resolve(item: item, job: job.id, findsRemoved: true)
            // Of a removed item the store still tells what it was.
            let isRemoved = found.state.removed != nil
            let state = found.state
            let view = ItemView(StoredItem(id: found.id, state: state), in: job)
            let last = found.state.lastWrite ?? WriteStamp(stamp: .zero, author: ReplicaID(0))
            // After the item: who wrote it is among them.
            let authors = Authors(job: job, sessions: try await store.workSessions(of: job.id))
            let history = state.fields.compactMap { field in
                field.register.winner.map { (field.name, authors.written($0)) }
            }
            let rivals = state.fields.filter { !$0.register.losers.isEmpty }.map { field in
                (field.name, field.register.losers.reversed().map(authors.written))
            }
            var details = ItemDetails(
                id: found.id.description, isRemoved: isRemoved, replaces: state.value(of: WellKnownField.replaces),
                fields: view.fields, notes: view.notes, updatedAt: last.stamp.timestamp,
                updatedBy: last.author.description, updatedByName: authors.hostName(of: last),
                person: authors.sessions.person(of: last),
                fieldHistory: Dictionary(fields: history), rivals: Dictionary(fields: rivals),
                remarks: state.notes.map { authors.written($0.text, $0.write) })
            details.entityTag = state.tag
            return details
        }
    }

    func addItem(_ request: FieldsRequest, job text: String) async throws -> Identified {
        try await answering {
            let fields = try Self.fields(request, ofNewItem: true)
            var check = FieldCheck()
            try doubt(fields, by: &check, in: nil)
            var generator = machine.generator
            let id = ItemID(milliseconds: nowMilliseconds, using: &generator)
            return try await withJob(text) { try await make(.put(item: id, fields: fields), job: $0) }
        }
    }

    func setFields(_ request: FieldsRequest, item: String, job text: String) async throws -> Identified {
        try await answering {
            let fields = try Self.fields(request)
            return try await change(item: item, job: text) { item, job in
                var check = FieldCheck()
                do { try doubt(fields, by: &check, in: nil) } catch {
                    // The item may have it already. One that is not there, or not any more, is told as that.
                    if let state = try await store.item(item, job: job), state.removed == nil {
                        try doubt(fields, by: &check, in: state)
                    }
                }
                return .put(item: item, fields: fields)
            }
        }
    }

    /// Refuses what is hardly meant, unless the caller says that it is.
    ///
    /// - Parameter state: the item as it is; nil for a new one.
    func doubt(_ fields: [Edit.FieldValue], by check: inout FieldCheck, in state: ItemState?) throws(FieldDoubt) {
        if caller.isForcing { return }
        for pair in fields {
            if let doubt = check.doubt(about: pair, in: state) { throw doubt }
        }
    }

    func addNote(_ request: NoteRequest, item: String, job text: String) async throws -> Identified {
        try await answering {
            guard !request.text.isEmpty else {
                throw APIError(.invalidValue, "A remark needs some text: write it behind the item.")
            }
            let remark = try FieldText.entered(request.text, as: .text, called: "The remark")
            return try await change(item: item, job: text) { item, _ in .note(item: item, text: remark) }
        }
    }

    func removeItem(_ item: String, job text: String) async throws -> Identified {
        try await answering {
            return try await change(item: item, job: text) { item, _ in .remove(item: item) }
        }
    }
}

extension ItemState {
    var notes: [Remark] { remarks.filter { $0.list == WellKnownField.notes } }
}

extension ItemView {
    init(_ item: StoredItem, in job: StoredJob) {
        let last = item.state.lastWrite ?? WriteStamp(stamp: .zero, author: ReplicaID(0))
        let fields = item.state.fields.compactMap { field in
            field.register.winner.map { (field.name, $0.value) }
        }
        self.init(
            id: item.id.description, fields: Dictionary(fields: fields),
            notes: item.state.notes.map(\.text), updatedAt: last.stamp.timestamp, updatedBy: last.author.description,
            updatedByName: InventoryService.hostName(of: last.author, in: job))
    }
}
