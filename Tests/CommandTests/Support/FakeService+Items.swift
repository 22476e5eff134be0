import LocalAPI

extension FakeService {
    static let items: [ItemView] = [
        ItemView(
            id: itemIDs[0],
            fields: [
                "barcode": "2000000000091", "category": "sofa-3-seat", "name": "Sofa (three seats)",
                "room": "Living room", "quantity": "1", "condition": "good",
            ], notes: ["left leg scratched"], updatedAt: moment, updatedBy: replicaID, updatedByName: "anna-laptop"),
        ItemView(
            id: itemIDs[1],
            fields: [
                "barcode": "2000000000145", "category": "carton-small", "quantity": "12",
                "name": "Book boxes with a name that is much too long for any table that fits a terminal",
                "room": "Study on the second floor behind the stairs", "condition": "fair\u{1B}[31m",
            ], notes: [], updatedAt: moment, updatedBy: otherReplicaID),
        ItemView(
            id: itemIDs[2], fields: ["name": "花瓶 vase", "quantity": "two"], notes: [], updatedAt: moment,
            updatedBy: otherReplicaID),
    ]

    static let changes: [ChangeReport] = [
        ChangeReport(
            job: jobID, at: moment, by: replicaID, byName: "anna-laptop", sequence: 1, item: itemIDs[0],
            itemName: "Sofa (three seats)", action: .added,
            fields: [FieldChange(field: "name", from: nil, to: "Sofa (three seats)", standing: .stands)]),
        ChangeReport(
            job: jobID, at: moment, counter: 1, by: otherReplicaID, byName: "bert-laptop", sequence: 4,
            item: itemIDs[0],
            itemName: "Sofa (three seats)", action: .changed,
            fields: [FieldChange(field: "room", from: "Hall", to: "Living room", standing: .lost)]),
        ChangeReport(
            job: jobID, at: moment, counter: 2, by: otherReplicaID, sequence: 5, item: itemIDs[0],
            itemName: "Sofa (three seats)", action: .noted, note: "left leg scratched"),
        ChangeReport(
            job: jobID, at: moment, counter: 3, by: replicaID, byName: "anna-laptop", sequence: 9, item: removedItemID,
            action: .removed),
    ]

    func log(job: String, item: String?) async throws -> Batches<ChangeReport> {
        try check(job: job, allowed: true)
        return batches(Self.changes.filter { item == nil || $0.item == item })
    }

    func items(job: String, matching filters: [FieldFilter]) async throws -> Batches<ItemView> {
        try check(job: job, allowed: true)
        return batches(
            Self.items.filter { item in filters.allSatisfy { item.fields[$0.field] == $0.value } })
    }

    func item(_ item: String, job: String) async throws -> ItemDetails {
        let view = try find(item, job)
        func written(_ value: String) -> WrittenValue {
            WrittenValue(value: value, at: view.updatedAt, by: view.updatedBy, byName: view.updatedByName)
        }
        return ItemDetails(
            id: view.id, isRemoved: false, replaces: nil, fields: view.fields, notes: view.notes,
            updatedAt: view.updatedAt, updatedBy: view.updatedBy, updatedByName: view.updatedByName,
            fieldHistory: view.fields.mapValues(written),
            rivals: view.fields["room"] == nil ? [:] : ["room": [written("Hall")]], remarks: view.notes.map(written))
    }

    func addItem(_ request: FieldsRequest, job: String) async throws -> Identified {
        try check(job: job, allowed: true)
        note("add " + describe(request.fields))
        return Identified(id: Self.itemIDs[0])
    }

    func addItems(_ batch: ItemBatch, job: String) async throws -> BatchReport {
        try check(job: job, allowed: true)
        note("batch key=\(batch.key ?? "-") " + batch.items.map { describe($0.fields) }.joined(separator: " | "))
        return BatchReport(
            results: batch.items.map { item in
                switch item.fields["name"] {
                case "refused": BatchResult(outcome: .rejected, reason: "the daemon does not like it")
                case "known": BatchResult(outcome: .updated, id: Self.itemIDs[1])
                case "first": BatchResult(outcome: .unchanged, id: Self.itemIDs[0])
                case "same": BatchResult(outcome: .unchanged, id: Self.itemIDs[1])
                default: BatchResult(outcome: .added, id: Self.itemIDs[0])
                }
            })
    }

    func setFields(_ request: FieldsRequest, item: String, job: String) async throws -> Identified {
        let id = try find(item, job).id
        note("set \(item) " + describe(request.fields))
        return Identified(id: id)
    }

    func addNote(_ request: NoteRequest, item: String, job: String) async throws -> Identified {
        let id = try find(item, job).id
        note("note \(item) \(request.text)")
        return Identified(id: id)
    }

    func removeItem(_ item: String, job: String) async throws -> Identified {
        let id = try find(item, job).id
        note("remove \(item)")
        return Identified(id: id)
    }

    func removeItems(_ request: RemovalRequest, job: String) async throws -> Removed {
        try check(job: job, allowed: true)
        let ids = try request.items?.map { try find($0, job).id } ?? Self.itemIDs
        guard request.isConfirmed == true || request.matching?["room"] != "Garage" else {
            throw APIError(.confirmationNeeded, "This removes 25 of the 40 items in 'Smith': add --yes.")
        }
        let fields = request.matching.map { "where " + describe($0) } ?? "\(ids.count) named"
        note("remove \(fields)" + (request.isConfirmed == true ? ", confirmed" : ""))
        return Removed(removed: ids)
    }

    func restoreItem(_ item: String, job: String) async throws -> Restored {
        try check(job: job, allowed: true)
        guard item == Self.removedItemID else {
            throw APIError(.itemNotRemoved, "Item \(item) is not removed: there is nothing to restore.")
        }
        note("restore \(item)")
        return Restored(id: Self.itemIDs[2], replaces: item)
    }

    private func find(_ item: String, _ job: String) throws -> ItemView {
        try check(job: job, allowed: true)
        guard item != Self.removedItemID else {
            throw APIError(.itemRemoved, "Item \(item) has been removed: bring it back with 'muster item restore'.")
        }
        guard let view = Self.items.first(where: { $0.id == item || $0.fields["barcode"] == item }) else {
            throw APIError(.unknownItem, "There is no item \"\(item)\" in this job: see 'muster item list'.")
        }
        return view
    }

    private func describe(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }
}

/// One element after the other, as slowly as it is taken.
func batches<Element: Sendable>(_ elements: [Element]) -> Batches<Element> {
    let rest = Mutable(elements[...])
    return Batches { rest.value.popFirst().map { [$0] } }
}
