package import CRDT
import Crypto
import GRDB
package import Inventory

/// A job's items added up, for exactly one version vector.
package struct JobReport: Hashable, Sendable {
    package let vector: VersionVector
    /// SHA-256 of the canonical export, 64 hexadecimal digits.
    package let digest: String
    package let cubicFeet: Thousandths
}

extension Store {
    /// The digest and the volume of a job. Kept until the job changes: on an idle job it costs one row.
    package func report(of job: JobID) async throws -> JobReport {
        let kept: JobReport? = try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            return try ReportTable.report(of: number, at: try JournalTable.vector(of: number, in: db), in: db)
        }
        if let kept { return kept }
        let report = try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let vector = try JournalTable.vector(of: number, in: db)
            var hash = SHA256()
            var summary = VolumeSummary()
            try Self.exportCanonically(job, number: number, in: db) { bytes, items in
                hash.update(data: bytes)
                for item in items where item.state.removed == nil { summary.add(item.id) { item.state.value(of: $0) } }
            }
            let digest = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return JobReport(vector: vector, digest: digest, cubicFeet: summary.total.cubicFeet)
        }
        // A cache: failing to keep it must not keep the answer from whoever asked.
        _ = try? await write { db in
            try ReportTable.keep(report, of: try JobTable.existingNumber(of: job, in: db), in: db)
        }
        return report
    }

    /// The canonical export in pieces of some 64 KiB, from one state of the store.
    package func exportPieces(of job: JobID) throws -> AsyncThrowingStream<[UInt8], any Error> {
        let cursor = ExportCursor(job: job, items: try itemCursor(of: job))
        return AsyncThrowingStream { try await cursor.next() }
    }

    /// The items of one state of the store, in ascending order, in batches of some hundred; removed ones too.
    package func itemBatches(of job: JobID) throws -> AsyncThrowingStream<[StoredItem], any Error> {
        let cursor = try itemCursor(of: job)
        return AsyncThrowingStream { try await cursor.next() }
    }

    /// The same, for a reader that asks batch by batch.
    package func itemCursor(of job: JobID) throws -> ItemCursor {
        do { return ItemCursor(job: job, snapshot: try pool.makeSnapshot()) } catch { throw StoreError(error) }
    }

    /// Shows the export in pieces of some 64 KiB, each with the items that it was made of.
    private static func exportCanonically(
        _ job: JobID, number: Int64, in db: Database, _ body: ([UInt8], [StoredItem]) -> Void
    ) throws {
        var export = CanonicalExport(job: job)
        var bytes: [UInt8] = []
        var items: [StoredItem] = []
        export.begin(into: &bytes)
        try ItemTable.forEach(job: number, in: db) { id, state in
            export.add(state, id: id, into: &bytes)
            items.append(StoredItem(id: id, state: state))
            if bytes.count >= 64 << 10 {
                body(bytes, items)
                bytes.removeAll(keepingCapacity: true)
                items.removeAll(keepingCapacity: true)
            }
            return true
        }
        export.end(into: &bytes)
        body(bytes, items)
    }
}

/// Where a reader of items stands, in one state of the store.
package actor ItemCursor {
    private let job: JobID
    private let snapshot: DatabaseSnapshot
    private var after = ItemID.job
    private var isAtEnd = false

    init(job: JobID, snapshot: DatabaseSnapshot) {
        self.job = job
        self.snapshot = snapshot
    }

    /// The next few hundred items; nil after the last.
    package func next() async throws -> [StoredItem]? {
        guard !isAtEnd else { return nil }
        let start = after
        let job = job
        let items: [StoredItem]
        do {
            items = try await snapshot.read { db in
                var items: [StoredItem] = []
                try ItemTable.forEach(job: try JobTable.existingNumber(of: job, in: db), after: start, in: db) { id, state in
                    items.append(StoredItem(id: id, state: state))
                    return items.count < 256
                }
                return items
            }
        } catch {
            throw StoreError(error)
        }
        isAtEnd = items.count < 256
        after = items.last?.id ?? after
        return items.isEmpty ? nil : items
    }
}

/// Where a reader of the export stands.
private actor ExportCursor {
    private let items: ItemCursor
    private var export: CanonicalExport
    private var hasBegun = false
    private var isAtEnd = false

    init(job: JobID, items: ItemCursor) {
        self.items = items
        export = CanonicalExport(job: job)
    }

    func next() async throws -> [UInt8]? {
        guard !isAtEnd else { return nil }
        var bytes: [UInt8] = []
        if !hasBegun { export.begin(into: &bytes) }
        hasBegun = true
        while bytes.count < 64 << 10 {
            guard let batch = try await items.next() else {
                export.end(into: &bytes)
                isAtEnd = true
                break
            }
            for item in batch { export.add(item.state, id: item.id, into: &bytes) }
        }
        return bytes
    }
}
