package import CRDT
import Foundation
import GRDB
import Inventory

/// Several items of one job that carry one barcode.
package struct DuplicateBarcode: Hashable, Sendable {
    package let barcode: String
    package let items: [ItemID]
}

extension Store {
    /// The items with a barcode, ascending.
    package func items(job: JobID, withBarcode barcode: String) async throws -> [ItemID] {
        try await readBarcodes(of: job) { db, number in
            try Data.fetchAll(
                db, sql: "SELECT item FROM barcode WHERE job = ? AND barcode = ? ORDER BY item",
                arguments: [number, barcode]
            ).map { ItemID(UInt128(blob: $0)) }
        }
    }

    /// Barcodes that more than one item has, ascending.
    package func duplicateBarcodes(job: JobID) async throws -> [DuplicateBarcode] {
        try await readBarcodes(of: job) { db, number in
            let barcodes = try String.fetchAll(
                db,
                sql: "SELECT barcode FROM barcode WHERE job = ? GROUP BY barcode HAVING count(*) > 1 ORDER BY barcode",
                arguments: [number])
            return try barcodes.map { barcode in
                let items = try Data.fetchAll(
                    db, sql: "SELECT item FROM barcode WHERE job = ? AND barcode = ? ORDER BY item",
                    arguments: [number, barcode])
                return DuplicateBarcode(barcode: barcode, items: items.map { ItemID(UInt128(blob: $0)) })
            }
        }
    }

    /// How many barcodes more than one item has.
    package func duplicateBarcodeCount(job: JobID) async throws -> Int {
        try await readBarcodes(of: job) { db, number in
            try BarcodeTable.duplicateCount(job: number, in: db)
        }
    }

    /// Builds the barcode index of a job that was loaded in bulk; returns at once when it is there.
    package func indexBarcodes(of job: JobID) async throws {
        let isIndexed = try await read { db in
            try JobTable.areBarcodesIndexed(try JobTable.existingNumber(of: job, in: db), in: db)
        }
        guard !isIndexed else { return }
        try await write { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            if try !JobTable.areBarcodesIndexed(number, in: db) { try BarcodeTable(job: number, db: db).rebuild() }
        }
    }

    /// Reads with the index built, in the same state of the store.
    func readBarcodes<Value: Sendable>(
        of job: JobID, _ body: @escaping @Sendable (Database, Int64) throws -> Value
    ) async throws -> Value {
        // A bulk load may come between building the index and reading it.
        while true {
            try await indexBarcodes(of: job)
            let value: Value? = try await read { db in
                let number = try JobTable.existingNumber(of: job, in: db)
                return try JobTable.areBarcodesIndexed(number, in: db) ? try body(db, number) : nil
            }
            if let value { return value }
        }
    }
}
