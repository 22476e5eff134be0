package import CRDT

/// Several items of one job that carry one barcode.
package struct DuplicateBarcode: Hashable, Sendable {
    /// The text that all of them carry, byte by byte.
    package let barcode: String
    /// Two or more that are not removed, ascending.
    package let items: [ItemID]
}

extension Store {
    /// The items with a barcode, ascending.
    ///
    /// - Parameter removed: looks among the removed items instead.
    package func items(job: JobID, withBarcode barcode: String, removed: Bool = false) async throws -> [ItemID] {
        try await read(of: job) { try BarcodeTable(of: $0).items(with: barcode, removed: removed) }
    }

    /// Barcodes that more than one item has, ascending.
    package func duplicateBarcodes(job: JobID) async throws -> [DuplicateBarcode] {
        try await read(of: job) { rows in
            try BarcodeTable(of: rows).duplicates().map { DuplicateBarcode(barcode: $0.barcode, items: $0.items) }
        }
    }
}
