import CRDT
import Foundation
import GRDB

/// The job's items.
extension JobRows {
    /// The state of one item; nil when nothing is known of it.
    func item(_ item: ItemID) throws -> ItemState? {
        let select = try RawStatement("SELECT state FROM item WHERE job = ?1 AND id = ?2", in: db)
        return try withUnsafeBytes(of: item.value.bigEndian) { id in
            try select.bind(number, id)
            return try select.firstBlob { try ItemStateCodec.decode($0) }
        }
    }

    /// Shows every item in ascending order, without the job's own; `body` returns false to stop.
    func forEachItem(after: ItemID = .job, _ body: (ItemID, ItemState) throws -> Bool) throws {
        try forEachPackedItem(after: after) { item, blob in try body(item, try ItemStateCodec.decode(blob)) }
    }

    /// As `forEachItem`, with the stored bytes, which are valid during the call.
    func forEachPackedItem(after: ItemID = .job, _ body: (ItemID, UnsafeRawBufferPointer) throws -> Bool) throws {
        let select = try RawStatement("SELECT id, state FROM item WHERE job = ?1 AND id > ?2 ORDER BY id", in: db)
        try withUnsafeBytes(of: after.value.bigEndian) { id in
            try select.bind(number, id)
            try select.forEach { columns in
                let item = ItemID(UInt128(bigEndian: columns.blob(0).loadUnaligned(as: UInt128.self)))
                return try body(item, columns.blob(1))
            }
        }
    }

    /// Notes whether an item has a conflict, so that listing those needs no scan.
    func setConflict(_ hasConflict: Bool, of item: ItemID) throws {
        let sql =
            hasConflict
            ? "INSERT INTO conflict (job, item) VALUES (?, ?) ON CONFLICT DO NOTHING"
            : "DELETE FROM conflict WHERE job = ? AND item = ?"
        try db.execute(sql: sql, arguments: [number, item.value.blob])
    }

    /// The items that have one, ascending; the job's own may be among them.
    func itemsWithConflicts() throws -> [ItemID] {
        try Data.fetchAll(
            db.cachedStatement(sql: "SELECT item FROM conflict WHERE job = ? ORDER BY item"), arguments: [number]
        )
        .map { ItemID(UInt128(blob: $0)) }
    }

    /// Makes the items anew from what counts of the journals; of a removed job there are none.
    func rebuildItems() throws {
        guard try !isRemoved() else { return }
        for table in ["item", "conflict", "barcode"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [number])
        }
        try db.execute(
            sql: """
                UPDATE job SET items = 0, removed = 0, conflicts = 0, barcodeRun = 0, barcodeCount = 0,
                    cubicFeet = 0, duplicates = 0 WHERE number = ?
                """,
            arguments: [number])
        var items = try ItemTable(of: self)
        let limits = try limits()
        try forEachRecord { scanned, buffer, dot in
            guard !scanned.isStatementOnly, limits.includes(dot, scanned) else { return }
            try items.apply(scanned, in: buffer, of: dot.replica, sequence: dot.sequence)
        }
        try items.finish()
    }
}
