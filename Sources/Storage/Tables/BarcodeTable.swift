import CRDT
import Foundation
import GRDB
import Inventory

/// Which items had which barcode at some time, as bytes: candidates, which their items confirm or not.
///
/// Barcodes come in no order, so one large B-tree would be touched all over by a bulk load (see Benchmarks/README.md). The
/// entries therefore stand in runs, as in a log-structured merge-tree (O'Neil et al., 1996): each is filled while it is small,
/// and a look-up asks one after the other. Nothing is ever dropped or built anew, so neither an import nor a catch-up makes
/// anybody who scans wait.
struct BarcodeTable {
    /// Entries of a run: some 2 MB, which stay in the page cache while it is filled.
    static let runEntries = 32_768

    let job: Int64
    let db: Database
    private var run: Int64
    private var count: Int
    private var hasGrown = false

    init(job: Int64, db: Database) throws {
        self.job = job
        self.db = db
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT barcodeRun, barcodeCount FROM job WHERE number = ?"), arguments: [job])
        run = row?["barcodeRun"] ?? 0
        count = row?["barcodeCount"] ?? 0
    }

    /// What an item got. What it had stays: the item does not confirm it any more.
    mutating func change(of item: ItemID, from before: ItemState?, to after: ItemState) throws {
        guard item != .job, after.removed == nil, let new = after.value(of: WellKnownField.barcode), !new.isEmpty else {
            return
        }
        // Bytes, not characters: the index holds bytes.
        if let old = before?.value(of: WellKnownField.barcode), old.utf8.elementsEqual(new.utf8) { return }
        try insert(Data(new.utf8), item)
    }

    mutating func insert(_ barcode: Data, _ item: ItemID) throws {
        guard !barcode.isEmpty else { return }
        let statement = try db.cachedStatement(
            sql: "INSERT INTO barcode (job, run, barcode, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
        try statement.execute(arguments: [job, run, barcode, item.value.blob])
        guard db.changesCount > 0 else { return }
        hasGrown = true
        count += 1
        guard count >= Self.runEntries else { return }
        run += 1
        count = 0
    }

    /// Notes where the next batch goes on.
    func finish() throws {
        guard hasGrown else { return }
        try db.cachedStatement(sql: "UPDATE job SET barcodeRun = ?, barcodeCount = ? WHERE number = ?")
            .execute(arguments: [run, count, job])
    }

    /// The items with a barcode, ascending.
    func items(with barcode: String, removed: Bool = false) throws -> [ItemID] {
        let candidates = try db.cachedStatement(
            sql: "SELECT item FROM barcode WHERE job = ? AND run = ? AND barcode = ?")
        var found: Set<ItemID> = []
        for run in 0...run {
            let rows = try Data.fetchAll(candidates, arguments: [job, run, Data(barcode.utf8)])
            for row in rows { found.insert(ItemID(UInt128(blob: row))) }
        }
        return try found.sorted().filter { try confirms($0, barcode, isRemoved: removed) }
    }

    /// Barcodes that more than one item has, ascending by their bytes.
    func duplicates() throws -> [(barcode: String, items: [ItemID])] {
        let shared = try Data.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT barcode FROM barcode WHERE job = ? GROUP BY barcode HAVING count(DISTINCT item) > 1
                    ORDER BY barcode
                    """), arguments: [job])
        return try shared.compactMap { bytes in
            let barcode = String(decoding: bytes, as: UTF8.self)
            let items = try items(with: barcode)
            return items.count > 1 ? (barcode, items) : nil
        }
    }

    private func confirms(_ item: ItemID, _ barcode: String, isRemoved: Bool) throws -> Bool {
        guard let state = try ItemTable.state(of: item, job: job, in: db), (state.removed != nil) == isRemoved else {
            return false
        }
        return state.value(of: WellKnownField.barcode)?.utf8.elementsEqual(barcode.utf8) ?? false
    }
}
