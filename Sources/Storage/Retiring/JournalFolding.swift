import CRDT
import Foundation
import GRDB

/// Rewrites a journal's segments so that changes become stubs.
struct JournalFolding {
    let journal: JournalKey
    let db: Database

    /// The running digest at the end of each of the runs, which ascend, as far as the journal reaches; also whether there
    /// are stubs only.
    func boundaries(of runs: [ClosedRange<UInt64>]) throws -> [UInt64: (digest: UInt64, isFolded: Bool)] {
        let rows = try rows(within: runs)
        guard var head = rows.head else { return [:] }
        var found: [UInt64: (digest: UInt64, isFolded: Bool)] = [:]
        var left = runs[...]
        var isFolded = true
        for rowid in rows.ids {
            try ChangeCodec.forEach(try bytes(of: rowid)) { scanned, buffer in
                head = head.after(scanned, in: buffer)
                guard let run = left.first, head.sequence >= run.lowerBound else { return }
                if scanned.stub == nil { isFolded = false }
                guard head.sequence >= run.upperBound else { return }
                if head.sequence == run.upperBound { found[head.sequence] = (head.digest, isFolded) }
                left.removeFirst()
                isFolded = true
            }
        }
        return found
    }

    /// Folds whole changes within the runs, which ascend. What was written on the job's own item always stays, whatever
    /// a fold names: it is never removed.
    ///
    /// - Parameter gone: when given, only what was written on these items is folded.
    func fold(_ runs: [ClosedRange<UInt64>], of gone: GoneTable?) throws {
        let rows = try rows(within: runs)
        guard let head = rows.head else { return }
        var output = Output(after: head)
        for rowid in rows.ids {
            let bytes = try bytes(of: rowid)
            try db.execute(sql: "DELETE FROM segment WHERE rowid = ?", arguments: [rowid])
            try ChangeCodec.forEach(bytes) { scanned, buffer in
                let count = UInt64(scanned.operationCount)
                let span = output.head.sequence + 1...output.head.sequence + count
                let isNamed =
                    scanned.stub == nil && scanned.item != .job
                    && runs.holds(span.lowerBound) && runs.holds(span.upperBound)
                let isFolded = try isNamed && gone?.holds(scanned.item) ?? true
                if isFolded {
                    try HeldTable.remove(journal, within: span, in: db)
                    try TombstoneTable.remove(journal, at: span.lowerBound, in: db)
                }
                output.take(scanned, in: buffer, asStub: isFolded)
                if output.isFull { try write(&output) }
            }
        }
        try write(&output)
    }

    /// The stored rows that hold the runs, and where the journal stands before them; no head if there are none.
    private func rows(within runs: [ClosedRange<UInt64>]) throws -> (ids: [Int64], head: JournalHead?) {
        guard let first = runs.first, let last = runs.last else { return ([], nil) }
        let found = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid, first FROM segment WHERE job = ? AND replica = ? AND last >= ? AND first <= ?
                    ORDER BY last
                    """),
            arguments: [
                journal.job, journal.replica.value.blob, first.lowerBound.signed, Int64(clamping: last.upperBound),
            ])
        guard let oldest = found.first else { return ([], nil) }
        let start = UInt64(bitPattern: oldest["first"])
        return (found.map { $0["rowid"] }, try JournalTable.headBefore(start, of: journal, in: db))
    }

    private func bytes(of rowid: Int64) throws -> [UInt8] {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT bytes FROM segment WHERE rowid = ?"), arguments: [rowid])
        return try row?.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } } ?? []
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
            head = head.after(scanned, in: buffer)
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
