package import CRDT
package import Inventory

extension Store {
    /// An export in pieces of some 64 KiB, from one state of the store.
    ///
    /// - Parameter lifetime: how long it can be read; nil for a minute.
    package func exportCursor<Export: ItemExport>(
        of job: JobID, as export: Export, lifetime: Duration? = nil
    ) throws -> ExportCursor<Export> {
        ExportCursor(
            job: job, export: export,
            snapshot: LeasedSnapshot(
                try snapshot(), lifetime: lifetime ?? LeasedSnapshot.lifetime, in: commits.log.leases))
    }

    /// The canonical one.
    package func exportCursor(of job: JobID, lifetime: Duration? = nil) throws -> ExportCursor<CanonicalExport> {
        try exportCursor(of: job, as: CanonicalExport(job: job), lifetime: lifetime)
    }

    /// The items of one state of the store, in ascending order, in batches of some hundred; removed ones too.
    package func itemCursor(of job: JobID) throws -> ItemCursor {
        ItemCursor(
            job: job,
            snapshot: LeasedSnapshot(try snapshot(), lifetime: LeasedSnapshot.lifetime, in: commits.log.leases))
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
            try JobRows(of: job, in: db).forEachItem(after: start) { id, state in
                items.append(StoredItem(id: id, state: state))
                return items.count < 256
            }
            return items
        }
        isAtEnd = items.count < 256
        after = items.last?.id ?? after
        return items.isEmpty ? nil : items
    }
}

/// How much of an export is read at once.
enum ExportPiece {
    static let bytes = 64 << 10
}

/// Where a reader of an export stands, in one state of the store.
package actor ExportCursor<Export: ItemExport> {
    /// Items of a survey's step: as short a read as that of a piece.
    private static var surveyedAtOnce: Int { 1_024 }

    private struct Progress {
        var export: Export
        var after = ItemID.job
        var hasBegun = false
        var isAtEnd = false
    }

    private let job: JobID
    private let snapshot: LeasedSnapshot
    private var progress: Progress

    init(job: JobID, export: Export, snapshot: LeasedSnapshot) {
        self.job = job
        self.snapshot = snapshot
        progress = Progress(export: export)
    }

    /// The next piece; nil after the last.
    package func next() async throws -> [UInt8]? {
        guard !progress.isAtEnd else { return nil }
        if Export.needsSurvey, !progress.hasBegun { try await survey() }
        let start = progress
        let job = job
        let (bytes, reached) = try await snapshot.read { db in
            try Self.piece(of: JobRows(of: job, in: db), from: start)
        }
        progress = reached
        return bytes
    }

    private func survey() async throws {
        let job = job
        var next: ItemID? = .job
        while let start = next {
            let before = progress.export
            (progress.export, next) = try await snapshot.read { db in
                var export = before
                var (count, last) = (0, start)
                try JobRows(of: job, in: db).forEachPackedItem(after: start) { id, blob in
                    export.survey(try PackedItem(blob))
                    (count, last) = (count + 1, id)
                    return count < Self.surveyedAtOnce
                }
                return (export, count < Self.surveyedAtOnce ? nil : last)
            }
        }
    }

    private static func piece(of job: JobRows, from start: Progress) throws -> ([UInt8], Progress) {
        var progress = start
        var bytes: [UInt8] = []
        if !progress.hasBegun {
            // Looked up here, in the state of the store that is read.
            if try job.isRemoved() { progress.export.jobIsRemoved() }
            progress.export.begin(into: &bytes)
        }
        progress.hasBegun = true
        progress.isAtEnd = true
        try job.forEachPackedItem(after: start.after) { id, blob in
            progress.export.add(try PackedItem(blob), id: id, into: &bytes)
            progress.after = id
            progress.isAtEnd = bytes.count < ExportPiece.bytes
            return progress.isAtEnd
        }
        if progress.isAtEnd { progress.export.end(into: &bytes) }
        return (bytes, progress)
    }
}
