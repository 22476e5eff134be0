import CRDT
import Inventory
import Storage

/// What people read of a job, compared with what the reference says it has to be: not only on two devices with each other.
extension Checker {
    func checkContents(of job: JobID, exported bytes: [UInt8], on device: Holder) async throws {
        let reference = device[job]
        try checkExport(bytes, of: job, reference, on: device)
        guard try await device.store.digest(of: job).text == SlowDigest.hexadecimal(bytes) else {
            throw Violation("R3", "\(device) gives another digest than that of its export.")
        }
        count(.digest)
        try await checkTimeline(of: job, on: device)
        guard !reference.isRemoved else { return }
        try await checkConflicts(of: job, on: device)
        let duplicates = try await checkBarcodes(of: job, on: device)
        let cubicFeet = try await checkSummary(of: job, on: device)
        let totals = try await device.store.totals(of: job)
        guard totals == JobTotals(cubicFeet: Thousandths(cubicFeet), duplicateBarcodes: duplicates) else {
            throw Violation(
                "R3", "\(device) counts \(totals), not \(cubicFeet) thousandths and \(duplicates) barcodes.")
        }
    }

    // MARK: The export

    /// Item by item, field by field, remark by remark.
    private func checkExport(_ bytes: [UInt8], of job: JobID, _ reference: Reference, on device: Holder) throws {
        let wrong = { (what: String) in Violation("R3", "the export of \(device) has \(what).") }
        guard let export = try? JSON(bytes) else { throw wrong("no JSON") }
        let expected = reference.itemIDs.map { (id: $0, item: reference.expected($0)) }
        guard export.members.map(\.key) == ["items", "job", "removed"].map({ Text($0) }),
            export["job"]?.text == Text(job.text)
        else { throw wrong("other parts than items, job and removed") }
        let removed = reference.isRemoved ? [ItemID.job] : expected.filter(\.item.isRemoved).map(\.id)
        guard (export["removed"]?.elements ?? []).map(\.text) == removed.map({ Text($0.description) }) else {
            throw wrong("other removed items than \(removed)")
        }
        let items = export["items"]?.elements ?? []
        let shown = expected.filter { !$0.item.isRemoved }
        guard items.map({ $0["id"]?.text }) == shown.map({ Text($0.id.description) }) else {
            throw wrong("other items than \(shown.map(\.id))")
        }
        for (exported, (id, item)) in zip(items, shown) {
            let fields = (exported["fields"]?.members ?? []).map { ($0.key, $0.value.text) }
            let wanted = item.values.keys.sorted().map { ($0, item.values[$0]) }
            guard fields.elementsEqual(wanted, by: { $0.0 == $1.0 && $0.1 == $1.1 }) else {
                throw wrong("of item \(id) the fields \(fields), not \(wanted)")
            }
            let notes = (exported["notes"]?.elements ?? []).map(\.text)
            let remarks = item.remarks.filter { $0.list == Text("notes") }.map(\.text)
            guard notes == remarks else { throw wrong("of item \(id) the remarks \(notes), not \(remarks)") }
            count(.exportedItem)
        }
    }

    // MARK: Conflicts and counts

    private func checkConflicts(of job: JobID, on device: Holder) async throws {
        let reference = device[job]
        let stored = try await device.store.job(job)
        let expected = reference.itemIDs.map { (id: $0, item: reference.expected($0)) }
        if let difference = reference.expected(.job).difference(from: stored.properties) {
            throw Violation(difference.rule, "on \(device), the job itself: \(difference.text).")
        }
        var wanted = expected.filter { !$0.item.conflicts.isEmpty }
        let own = reference.expected(.job)
        if !own.conflicts.isEmpty {
            wanted.insert((.job, own), at: 0)
            count(.jobConflict)
        }
        let listed = try await device.store.conflicts(job: job)
        guard listed.map(\.id) == wanted.map(\.id) else {
            throw Violation(
                "R1", "\(device) lists conflicts of \(listed.map(\.id)), but they are of \(wanted.map(\.id)).")
        }
        for (item, (id, wish)) in zip(listed, wanted) {
            var losers: [Text: Set<Text>] = [:]
            for field in item.state.fields where !field.register.losers.isEmpty {
                losers[Text(field.name)] = Set(field.register.losers.map { Text($0.value) })
            }
            guard losers == wish.conflicts else {
                throw Violation("R1", "\(device) lists for \(id) the lost values \(losers), not \(wish.conflicts).")
            }
            count(.conflict)
        }
        let there = expected.filter { !$0.item.isRemoved }.count
        let fields = wanted.reduce(0) { $0 + $1.item.conflicts.count }
        guard stored.items == there, stored.removed == expected.count - there, stored.conflicts == fields else {
            throw Violation(
                "R3",
                "\(device) counts \(stored.items) items, \(stored.removed) removed, \(stored.conflicts) conflicts, not "
                    + "\(there), \(expected.count - there), \(fields).")
        }
        count(.counts)
    }

    /// - Returns: how many barcodes more than one item has.
    private func checkBarcodes(of job: JobID, on device: Holder) async throws -> Int {
        let reference = device[job]
        var items: [Text: [ItemID]] = [:]
        for id in reference.itemIDs {
            let item = reference.expected(id)
            guard !item.isRemoved, let barcode = item.values[Text("barcode")], !barcode.bytes.isEmpty else { continue }
            items[barcode, default: []].append(id)
        }
        let several = items.filter { $0.value.count > 1 }
        let listed = try await device.store.duplicateBarcodes(job: job)
        let found = listed.map { "\(Text($0.barcode).bytes) \($0.items)" }
        let wanted = several.keys.sorted().map { "\($0.bytes) \(several[$0] ?? [])" }
        guard found == wanted else {
            throw Violation("R1", "\(device) lists the duplicate barcodes \(listed), but they are \(several).")
        }
        count(.duplicateBarcode, several.count)
        for (barcode, ids) in items.sorted(by: { $0.key < $1.key }).prefix(3) {
            guard try await device.store.items(job: job, withBarcode: barcode.description) == ids else {
                throw Violation("R1", "\(device) finds other items with the barcode \(barcode) than \(ids).")
            }
        }
        return several.count
    }
}
