package import CRDT
import GRDB
import Inventory

extension Store {
    /// The canonical export in pieces of some 64 KiB, from one state of the store.
    ///
    /// - Parameter lifetime: how long it can be read; nil for a minute.
    package func exportCursor(of job: JobID, lifetime: Duration? = nil) throws -> ExportCursor {
        ExportCursor(
            job: job, snapshot: LeasedSnapshot(try snapshot(), lifetime: lifetime ?? LeasedSnapshot.lifetime))
    }

    /// The items of one state of the store, in ascending order, in batches of some hundred; removed ones too.
    package func itemCursor(of job: JobID) throws -> ItemCursor {
        ItemCursor(job: job, snapshot: LeasedSnapshot(try snapshot(), lifetime: LeasedSnapshot.lifetime))
    }
}

/// Where a reader of items stands, in one state of the store.
package actor ItemCursor {
    private let job: JobID
    private let snapshot: LeasedSnapshot
    private var after = ItemID.job
    private var isAtEnd = false

    init(job: JobID, snapshot: LeasedSnapshot) {
        self.job = job
        self.snapshot = snapshot
    }

    /// The next few hundred items; nil after the last.
    package func next() async throws -> [StoredItem]? {
        guard !isAtEnd else { return nil }
        let start = after
        let job = job
        let items = try await snapshot.read { db in
            var items: [StoredItem] = []
            try ItemTable.forEach(job: try JobTable.existingNumber(of: job, in: db), after: start, in: db) {
                id, state in
                items.append(StoredItem(id: id, state: state))
                return items.count < 256
            }
            return items
        }
        isAtEnd = items.count < 256
        after = items.last?.id ?? after
        return items.isEmpty ? nil : items
    }

    /// Begins again, in the same state of the store.
    package func rewind() {
        after = .job
        isAtEnd = false
    }
}

/// Where a reader of the export stands, in one state of the store.
package actor ExportCursor {
    static let pieceBytes = 64 << 10

    private struct Progress {
        var export: CanonicalExport
        var after = ItemID.job
        var hasBegun = false
        var isAtEnd = false
    }

    private let job: JobID
    private let snapshot: LeasedSnapshot
    private var progress: Progress

    init(job: JobID, snapshot: LeasedSnapshot) {
        self.job = job
        self.snapshot = snapshot
        progress = Progress(export: CanonicalExport(job: job))
    }

    /// The next piece; nil after the last.
    package func next() async throws -> [UInt8]? {
        guard !progress.isAtEnd else { return nil }
        let start = progress
        let job = job
        let (bytes, reached) = try await snapshot.read { db in
            try Self.piece(of: try JobTable.existingNumber(of: job, in: db), from: start, in: db)
        }
        progress = reached
        return bytes
    }

    private static func piece(of job: Int64, from start: Progress, in db: Database) throws -> ([UInt8], Progress) {
        var progress = start
        var bytes: [UInt8] = []
        if !progress.hasBegun {
            // Looked up here, in the state of the store that is read.
            let id = try JobTable.id(of: job, in: db)
            if let id, try RemovalTable.isRemoved(job, in: db) {
                progress.export = CanonicalExport(job: id, isRemoved: true)
            }
            progress.export.begin(into: &bytes)
        }
        progress.hasBegun = true
        progress.isAtEnd = true
        try ItemTable.forEachPacked(job: job, after: start.after, in: db) { id, blob in
            progress.export.add(try PackedItem(blob), id: id, into: &bytes)
            progress.after = id
            progress.isAtEnd = bytes.count < pieceBytes
            return progress.isAtEnd
        }
        if progress.isAtEnd { progress.export.end(into: &bytes) }
        return (bytes, progress)
    }
}
