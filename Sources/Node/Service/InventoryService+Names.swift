import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import Outbox
import Storage

/// From what people write to what they mean, and back.
extension InventoryService {
    /// Does something to a job. An id that is written in full, as programs write it, needs no look-up: what is done finds
    /// out.
    ///
    /// - Parameter body: throws `StoreError.Code.unknownJob` and changes nothing where there is no such job.
    func withJob<Value>(_ text: String, _ body: (JobID) async throws -> Value) async throws -> Value {
        if let id = JobID(text) {
            do {
                return try await body(id)
            } catch let error as StoreError where [.unknownJob, .removedJob].contains(error.code) {
                // It may be a name or a prefix, or a name that a removed job of that id has given back.
            }
        }
        return try await body(try await resolve(job: text).id)
    }

    /// An item by its id, a unique beginning or end of it, or a barcode that one item has.
    ///
    /// - Parameter findsRemoved: a removed item is found by its barcode if no other has it.
    /// - Returns: its id and state.
    func resolve(item text: String, job: JobID, findsRemoved: Bool = false) async throws -> StoredItem {
        if let id = ItemID(text), id != .job, let state = try await store.item(id, job: job) {
            return StoredItem(id: id, state: state)
        }
        var matches = try await store.items(job: job, withBarcode: text)
        let trimmed = FieldText.trimmed(text)
        if matches.isEmpty, !FieldText.isSame(trimmed, text) {
            matches = try await store.items(job: job, withBarcode: trimmed)
        }
        if matches.isEmpty, findsRemoved {
            matches = try await store.items(job: job, withBarcode: trimmed, removed: true)
        }
        if matches.isEmpty {
            matches = try await ids(abbreviated: text, in: job)
        } else if text.contains(where: \.isLetter) {
            // A barcode goes first, but for one that may as well be the id that a list shows of another item.
            for id in try await ids(abbreviated: text, in: job) where !matches.contains(id) {
                if try await store.item(id, job: job)?.removed == nil { matches.append(id) }
            }
        }
        guard let id = matches.first, let state = try await store.item(id, job: job) else {
            throw APIError(
                .unknownItem, "There is no item '\(text)' in this job; 'muster item list' shows the items.")
        }
        guard matches.count == 1 else {
            var described: [String] = []
            for id in matches.prefix(Self.mostCandidates) {
                described.append("\(id) (\(try await store.item(id, job: job)?.label ?? "no name"))")
            }
            throw APIError(
                .ambiguousItem,
                "'\(text)' fits \(matches.count > Self.mostCandidates ? "many" : "\(matches.count)") items; name one by its id: "
                    + "\(Self.list(described, of: matches.count)).",
                candidates: matches.prefix(Self.mostCandidates).map(\.description))
        }
        return StoredItem(id: id, state: state)
    }

    /// By the beginning or end of an id: nine at most; none for what is too short, or no part of one.
    ///
    /// - Parameter areRemoved: looks among the removed items alone.
    func ids(abbreviated text: String, in job: JobID, areRemoved: Bool = false) async throws -> [ItemID] {
        let digits = text.lowercased().filter { $0 != "-" }
        guard digits.utf8.count >= 4, digits.utf8.allSatisfy(Self.isHexadecimal) else { return [] }
        return try await store.items(job: job, abbreviated: digits, areRemoved: areRemoved, limit: 9)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// How many of what a name may have meant are told.
    static let mostCandidates = 8

    static func list(_ candidates: [String], of count: Int) -> String {
        candidates.joined(separator: ", ") + (count > candidates.count ? ", …" : "")
    }

    /// The laptop that a replica is on, if its first change in the job has said so.
    static func hostName(of replica: ReplicaID, in job: StoredJob) -> String? {
        job.properties.value(of: JobProperty.author(replica))
    }

    static func field(_ text: String) throws -> FieldName {
        guard let field = FieldText.name(text) else {
            throw APIError(.invalidValue, "'\(text)' is no field name; use \(FieldText.nameRule).")
        }
        guard field != WellKnownField.notes else {
            throw APIError(
                .invalidValue, "Remarks only grow: add one with 'muster item note' instead of setting 'notes'.")
        }
        return field
    }

    /// An id that a caller gives to a new item.
    static func itemID(_ text: String) throws -> ItemID {
        guard let id = ItemID(text), id != .job else {
            throw APIError(.invalidValue, "'\(text)' is no id of an item; draw a UUID.")
        }
        return id
    }

    /// A field that items are found by.
    static func filterField(_ text: String) throws -> FieldName {
        guard text != WellKnownField.notes.text else {
            throw APIError(
                .invalidValue, "Items are found by their fields, and remarks are none; leave 'notes' out.")
        }
        return try field(text)
    }

    /// Fields in ascending order, checked.
    ///
    /// Null becomes the empty value: a write like any other, which wins and loses by its stamp and shows in the export as it is
    /// stored. That a field is absent cannot be written: who has not seen it set could not tell that from never.
    ///
    /// - Parameters:
    ///   - key: the field that names an item in an import.
    ///   - isNew: there is nothing to empty yet: null is left out.
    static func fields(
        _ request: FieldsRequest, key: FieldName? = nil, ofNewItem isNew: Bool = false
    ) throws -> [Edit.FieldValue] {
        try request.fields.filter { !isNew || $0.value != nil }.map { name, value in
            let value = value ?? ""
            let field = try field(name)
            let kind = field == key ? .key : FieldText.kind(of: field)
            let text = try FieldText.entered(value, as: kind, called: "The value of '\(field)'")
            return Edit.FieldValue(field: field, value: text)
        }.sorted { $0.field < $1.field }
    }
}

extension Stamp {
    var timestamp: Timestamp { Timestamp(milliseconds: Int64(clamping: milliseconds)) }
}
