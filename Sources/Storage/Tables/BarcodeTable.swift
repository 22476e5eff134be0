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
    /// A batch that sets more barcodes than this leaves counting those that are shared to who asks: each look asks every run.
    static let looksOfBatch = 64
    /// A text that so many items had is no barcode that is worth following.
    static let candidatesOfLook = 64

    private let job: JobRows
    private var db: Database { job.db }
    private var run: Int64
    private var count: Int64
    private var hasGrown = false
    private var entry: RawStatement?
    private var looks = 0
    /// Whether the job knows how many barcodes are shared; what is not known becomes no better by a batch.
    private let isCounted: Bool
    /// By how many more barcodes are on more than one item than before the batch; nil when counting them took too long.
    private(set) var moreDuplicates: Int? = 0

    init(of job: JobRows) throws {
        self.job = job
        let statement = try RawStatement(
            "SELECT barcodeRun, barcodeCount, duplicates FROM job WHERE number = ?", in: job.db)
        let kept = try statement.first(.number(job.number)) { ($0.number(0), $0.number(1), isCounted: !$0.isNull(2)) }
        (run, count, isCounted) = kept ?? (0, 0, false)
    }

    /// What an item that is not removed got in place of what it had. What it had stays: the item does not confirm it any more.
    mutating func change(of item: ItemID, from old: String?, to new: String?) throws {
        // Bytes, not characters: the index holds bytes. An empty one is none.
        let (before, after) = ((old ?? "").utf8, (new ?? "").utf8)
        guard !before.elementsEqual(after) else { return }
        let (old, new) = (Data(before), Data(after))
        if !old.isEmpty { try countShared(old, besides: item, as: -1) }
        if !new.isEmpty {
            try countShared(new, besides: item, as: 1)
            try insert(new, item)
        }
    }

    /// A barcode is on two items when the second gets it, and no longer when the last but one has lost it.
    private mutating func countShared(_ barcode: Data, besides item: ItemID, as change: Int) throws {
        guard isCounted, let counted = moreDuplicates else { return }
        looks += 1
        guard looks <= Self.looksOfBatch, let others = try others(with: barcode, besides: item) else {
            moreDuplicates = nil
            return
        }
        if others == 1 { moreDuplicates = counted + change }
    }

    /// How many other items have a barcode, two standing for more; nil when finding out takes too long.
    private func others(with barcode: Data, besides item: ItemID) throws -> Int? {
        var (looked, found) = (0, 0)
        try forEachCandidate(of: barcode) { other in
            guard other != item else { return true }
            looked += 1
            guard looked <= Self.candidatesOfLook else { return false }
            if try confirms(other, barcode, isRemoved: false) { found += 1 }
            return found < 2
        }
        return looked <= Self.candidatesOfLook ? found : nil
    }

    /// Shows each item once that had a barcode at some time; `body` returns false to stop.
    private func forEachCandidate(of barcode: Data, _ body: (ItemID) throws -> Bool) throws {
        let candidates = try db.cachedStatement(
            sql: "SELECT item FROM barcode WHERE job = ? AND run = ? AND barcode = ?")
        var seen: Set<ItemID> = []
        for run in 0...run {
            let rows = try Data.fetchCursor(candidates, arguments: [job.number, run, barcode])
            while let row = try rows.next() {
                let item = ItemID(UInt128(blob: row))
                if seen.insert(item).inserted, try !body(item) { return }
            }
        }
    }

    private mutating func insert(_ barcode: Data, _ item: ItemID) throws {
        let entry =
            try entry
            ?? RawStatement(
                "INSERT INTO barcode (job, run, barcode, item) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", in: db)
        self.entry = entry
        try barcode.withUnsafeBytes { barcode in
            try withUnsafeBytes(of: item.value.bigEndian) { item in
                try entry.bind(job.number, run, barcode, item)
                try entry.run()
            }
        }
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
            .execute(arguments: [run, count, job.number])
    }

    /// The items with a barcode, ascending.
    func items(with barcode: String, removed: Bool = false) throws -> [ItemID] {
        let barcode = Data(barcode.utf8)
        var found: [ItemID] = []
        try forEachCandidate(of: barcode) { item in
            if try confirms(item, barcode, isRemoved: removed) { found.append(item) }
            return true
        }
        return found.sorted()
    }

    /// Barcodes that more than one item has, ascending by their bytes.
    func duplicates() throws -> [(barcode: String, items: [ItemID])] {
        let shared = try Data.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT barcode FROM barcode WHERE job = ? GROUP BY barcode HAVING count(DISTINCT item) > 1
                    ORDER BY barcode
                    """), arguments: [job.number])
        return try shared.compactMap { bytes in
            let barcode = String(decoding: bytes, as: UTF8.self)
            let items = try items(with: barcode)
            return items.count > 1 ? (barcode, items) : nil
        }
    }

    private func confirms(_ item: ItemID, _ barcode: Data, isRemoved: Bool) throws -> Bool {
        guard let state = try job.item(item), (state.removed != nil) == isRemoved else {
            return false
        }
        return state.value(of: WellKnownField.barcode)?.utf8.elementsEqual(barcode) ?? false
    }
}
