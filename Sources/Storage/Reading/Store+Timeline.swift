package import CRDT
import GRDB
package import Inventory

/// A line of a timeline, and what its item is now.
package struct TimelineLine: Hashable, Sendable {
    package let entry: TimelineEntry
    /// Nil for what is of no item.
    package let item: ItemState?
}

extension Store {
    /// The timeline of a job, or of one item, from top to bottom (rule R7).
    ///
    /// Only the order is worked out at once; the changes are read page by page, so that a log of a million of them holds
    /// neither the memory nor the write-ahead log. Journals do not change once they are written.
    package func timeline(of job: JobID, item: ItemID? = nil) async throws -> TimelineCursor {
        let order = try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            var order = TimelineOrder()
            // Of a removed job only what was said about it is left; what is late is listed apart.
            let isRemoved = try RemovalTable.isRemoved(number, in: db)
            try Self.forEachChange(job: number, in: db) { dotted in
                guard item == nil || dotted.change.item == item else { return }
                guard !isRemoved || dotted.change.operations.contains(where: \.isStatement) else { return }
                order.add(dotted.change, at: dotted.dot)
            }
            order.sort()
            return order
        }
        return TimelineCursor(store: self, job: job, order: order)
    }
}

/// Where a reader of a timeline stands.
package actor TimelineCursor {
    private static let pageLines = 256

    private let store: Store
    private let job: JobID
    private let order: TimelineOrder
    private var teller: TimelineTeller
    private var rows = JournalRows()
    private var position = 0

    init(store: Store, job: JobID, order: TimelineOrder) {
        self.store = store
        self.job = job
        self.order = order
        teller = TimelineTeller(counts: order.counts)
    }

    /// The next lines; nil after the last.
    ///
    /// - Throws: `StoreError`, also when the job was removed, or a part of a journal given up, since the reading began.
    package func next() async throws -> [TimelineLine]? {
        while position < order.count {
            let keys = order.keys(position..<min(position + Self.pageLines, order.count))
            position += keys.count
            let lines = try await page(keys)
            if !lines.isEmpty { return lines }
        }
        return nil
    }

    /// All that is left.
    package func rest() async throws -> [TimelineEntry] {
        var entries: [TimelineEntry] = []
        while let lines = try await next() { entries += lines.map(\.entry) }
        return entries
    }

    private func page(_ keys: [TimelineKey]) async throws -> [TimelineLine] {
        let (job, start) = (job, rows)
        let (found, reached) = try await store.read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            var rows = start
            var found: [(key: TimelineKey, change: Change, item: ItemState?)] = []
            for key in keys {
                let journal = JournalKey(job: number, replica: key.journal)
                let change = try rows.change(of: journal, at: key.sequence, in: db)
                found.append((key, change, try ItemTable.state(of: change.item, job: number, in: db)))
            }
            return (found, rows)
        }
        rows = reached
        return found.compactMap { key, change, item in
            teller.tell(change, at: key, item: item).map { TimelineLine(entry: $0, item: item) }
        }
    }
}

/// The stored rows of journals that were read last: who reads by time goes through several journals side by side.
private struct JournalRows: Sendable {
    /// Together at most some MiB.
    private static let most = 16

    private struct Row: Sendable {
        let first: UInt64
        let last: UInt64
        let bytes: [UInt8]
        /// Where each change begins, ascending.
        let starts: [(sequence: UInt64, offset: Int)]

        init(_ piece: JournalTable.Piece) throws {
            first = piece.first
            last = piece.head.sequence
            bytes = piece.bytes
            var next = piece.first
            var starts: [(sequence: UInt64, offset: Int)] = []
            try ChangeCodec.scan(piece.bytes) { scanned, _ in
                starts.append((next, scanned.record.lowerBound))
                next += UInt64(scanned.operationCount)
            }
            self.starts = starts
        }

        func change(at sequence: UInt64) throws -> Change? {
            var (low, high) = (0, starts.count)
            while low < high {
                let middle = (low + high) / 2
                if starts[middle].sequence < sequence { low = middle + 1 } else { high = middle }
            }
            guard low < starts.count, starts[low].sequence == sequence else { return nil }
            let end = low + 1 < starts.count ? starts[low + 1].offset : bytes.count
            return try ChangeCodec.decodeAll(Array(bytes[starts[low].offset..<end])).first
        }
    }

    private var rows: [ReplicaID: Row] = [:]

    mutating func change(of journal: JournalKey, at sequence: UInt64, in db: Database) throws -> Change {
        if let row = rows[journal.replica], row.first <= sequence, sequence <= row.last,
            let change = try row.change(at: sequence)
        {
            return change
        }
        let piece = try JournalTable.pieces(of: journal, from: sequence, maximumBytes: 1, in: db).first
        guard let row = try piece.map(Row.init), let change = try row.change(at: sequence) else {
            throw StoreError(
                .historyChanged, "The job's history has changed while it was read; run the command again.")
        }
        if rows.count >= Self.most { rows = [:] }
        rows[journal.replica] = row
        return change
    }
}
