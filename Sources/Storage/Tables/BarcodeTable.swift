import CRDT
import GRDB
import Inventory

/// Which items have which barcode: a cache of the items, kept up change by change and built anew after a bulk load.
///
/// Barcodes come in no order, so that keeping the index up during a catch-up would cost more than the catch-up itself
/// (see Benchmarks/README.md).
struct BarcodeTable {
    /// A batch of this many changes is a bulk load.
    static let bulk = 500

    let job: Int64
    let db: Database

    func change(of item: ItemID, from before: ItemState?, to after: ItemState) throws {
        let old = before?.value(of: WellKnownField.barcode)
        let new = after.value(of: WellKnownField.barcode)
        // Bytes, not characters: the index holds bytes.
        guard old.map({ Array($0.utf8) }) != new.map({ Array($0.utf8) }), item != .job else { return }
        if let old, !old.isEmpty {
            try db.execute(
                sql: "DELETE FROM barcode WHERE job = ? AND barcode = ? AND item = ?",
                arguments: [job, old, item.value.blob])
        }
        if let new, !new.isEmpty { try insert(new, item) }
    }

    /// Fills the index from the items, in the order of the index.
    func rebuild() throws {
        try db.execute(sql: "DELETE FROM barcode WHERE job = ?", arguments: [job])
        var pairs: [(barcode: String, item: ItemID)] = []
        try ItemTable.forEachPacked(job: job, in: db) { item, blob in
            let barcode = try PackedItem(blob).value(of: WellKnownField.barcode)
            if let barcode, !barcode.isEmpty { pairs.append((barcode, item)) }
            return true
        }
        pairs.sort { left, right in
            left.barcode.utf8.elementsEqual(right.barcode.utf8)
                ? left.item < right.item : left.barcode.utf8.lexicographicallyPrecedes(right.barcode.utf8)
        }
        for pair in pairs { try insert(pair.barcode, pair.item) }
        try JobTable.setBarcodesIndexed(true, job: job, in: db)
    }

    /// How many barcodes more than one item has. The index is in order of barcode: one pass, no sorting.
    static func duplicateCount(job: Int64, in db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM (SELECT 1 FROM barcode WHERE job = ? GROUP BY barcode HAVING count(*) > 1)",
            arguments: [job]) ?? 0
    }

    private func insert(_ barcode: String, _ item: ItemID) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO barcode (job, barcode, item) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
        try statement.execute(arguments: [job, barcode, item.value.blob])
    }
}
