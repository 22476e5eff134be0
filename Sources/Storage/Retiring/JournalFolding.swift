import CRDT
import Foundation
import GRDB

/// Rewrites a journal's segments so that changes become stubs.
struct JournalFolding {
    let journal: JournalKey
    let db: Database

    /// Folds whole changes within the runs, which ascend. What was written on the job's own item always stays, whatever
    /// a fold names: it is never removed.
    ///
    /// - Parameter gone: when given, only what was written on these items is folded.
    func fold(_ runs: [ClosedRange<UInt64>], of gone: GoneTable?) throws {
        guard let first = runs.first, let last = runs.last else { return }
        let rowids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid FROM segment WHERE job = ? AND replica = ? AND last >= ? AND first <= ? ORDER BY last
                    """),
            arguments: [
                journal.job, journal.replica.value.blob, first.lowerBound.signed, Int64(clamping: last.upperBound),
            ])
        guard let oldest = rowids.first else { return }
        let start = UInt64(
            bitPattern: try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT first FROM segment WHERE rowid = ?"), arguments: [oldest])
                ?? 1)
        var output = Output(after: try JournalTable.headBefore(start, of: journal, in: db))
        for rowid in rowids {
            guard
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT bytes FROM segment WHERE rowid = ?"), arguments: [rowid])
            else { continue }
            let bytes = try row.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } ?? [] }
            try db.execute(sql: "DELETE FROM segment WHERE rowid = ?", arguments: [rowid])
            try ChangeCodec.forEach(bytes) { scanned, buffer in
                let count = UInt64(scanned.operationCount)
                let span = output.head.sequence + 1...output.head.sequence + count
                let isNamed =
                    scanned.stub == nil && scanned.item != .job
                    && runs.holds(span.lowerBound) && runs.holds(span.upperBound)
                let isFolded = try isNamed && gone?.holds(scanned.item) ?? true
                output.take(scanned, in: buffer, asStub: isFolded)
                if output.isFull { try write(&output) }
            }
        }
        try write(&output)
    }

    private func write(_ output: inout Output) throws {
        guard let piece = output.takePiece() else { return }
        try JournalTable.insert(piece.bytes[...], after: piece.base, head: piece.head, into: journal, in: db)
    }

    /// Collects the records of the next row.
    private struct Output {
        private(set) var head: JournalHead
        /// Where the collected bytes begin.
        private var base: JournalHead
        private var bytes: [UInt8] = []

        init(after head: JournalHead) {
            self.head = head
            base = head
        }

        var isFull: Bool { bytes.count >= JournalTable.segmentBytes }

        mutating func take(_ scanned: ScannedChange, in buffer: UnsafeRawBufferPointer, asStub: Bool) {
            if asStub { bytes += JournalStub(scanned, in: buffer).bytes } else { bytes += buffer[scanned.record] }
            head = JournalHead(
                sequence: head.sequence + UInt64(scanned.operationCount),
                digest: JournalDigest.extend(head.digest, with: scanned, in: buffer))
        }

        mutating func takePiece() -> (bytes: [UInt8], base: JournalHead, head: JournalHead)? {
            guard !bytes.isEmpty else { return nil }
            defer {
                bytes.removeAll(keepingCapacity: true)
                base = head
            }
            return (bytes, base, head)
        }
    }
}
