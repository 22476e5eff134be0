import CRDT
import GRDB

extension Store {
    /// Makes a job's items anew from its journals.
    static func rebuildItems(of job: Int64, in db: Database) throws {
        guard try !RemovalTable.isRemoved(job, in: db) else { return }
        for table in ["item", "conflict", "barcode"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
        try db.execute(
            sql: """
                UPDATE job SET items = 0, removed = 0, conflicts = 0, barcodeRun = 0, barcodeCount = 0,
                    cubicFeet = 0, duplicates = 0 WHERE number = ?
                """,
            arguments: [job])
        var items = try ItemTable(job: job, in: db)
        try SegmentReader.forEach(job: job, in: db) { scanned, buffer, dot in
            guard !scanned.isStatementOnly else { return }
            try items.apply(scanned, in: buffer, of: dot.replica, sequence: dot.sequence)
        }
        try items.finish()
    }
}
