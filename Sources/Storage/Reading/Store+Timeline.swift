import Authorship
package import CRDT
package import Inventory

/// A line of a timeline, and what its item is now.
package struct TimelineLine: Hashable, Sendable {
    /// What one change did; whether its values stand, were replaced or lost is told as of the reading.
    package let entry: TimelineEntry
    /// For a statement it is the job's own item; nil when the store has none of that id.
    package let item: ItemState?
    /// Who was at the author's laptop; nil when nobody says so.
    package let person: String?
}

extension Store {
    /// The timeline of a job, or of one item, from top to bottom (rule R7).
    ///
    /// Only the order is worked out at once; the changes are read page by page, so that a log of a million of them holds
    /// neither the memory nor the write-ahead log. Journals do not change once they are written.
    package func timeline(of job: JobID, item: ItemID? = nil) async throws -> TimelineCursor {
        let (order, sessions) = try await read(of: job) { rows in
            var order = TimelineOrder()
            // Of a removed job only what was said about it is left; what is late is listed apart.
            let isRemoved = try rows.isRemoved()
            let limits = try rows.limits()
            try rows.forEachChange { dotted in
                guard item == nil || dotted.change.item == item else { return }
                let counts = !isRemoved && limits.includes(dotted)
                guard counts || dotted.change.operations.contains(where: \.isStatement) else { return }
                // What is forged is nothing that people read.
                let forged = dotted.change.forgedRequests(for: job, in: dotted.dot.replica)
                order.add(dotted.change.leavingOut(forged), at: dotted.dot)
            }
            order.sort()
            return (order, try rows.workSessions())
        }
        return TimelineCursor(store: self, job: job, order: order, sessions: sessions)
    }
}

/// Where a reader of a timeline stands.
package actor TimelineCursor {
    /// So many changes are read at a time …
    private static let pageLines = 1_024
    /// … and handed on in pieces: whoever puts them into words holds nobody up for long.
    private static let pieceLines = 16

    private let store: Store
    private let job: JobID
    private var order: TimelineOrder
    private let sessions: WorkSessions
    private var teller: TimelineTeller
    private var position = 0
    private var page: ArraySlice<(key: TimelineKey, change: Change, item: ItemState?)> = []

    init(store: Store, job: JobID, order: TimelineOrder, sessions: WorkSessions) {
        self.sessions = sessions
        self.store = store
        self.job = job
        self.order = order
        teller = TimelineTeller(counts: self.order.takeCounts())
    }

    /// The next lines; nil after the last.
    ///
    /// - Throws: `StoreError`, also when the job was removed, or a part of a journal given up, since the reading began.
    package func next() async throws -> [TimelineLine]? {
        while true {
            if page.isEmpty {
                guard position < order.count else { return nil }
                let keys = order.keys(position..<min(position + Self.pageLines, order.count))
                position += keys.count
                page = try await read(keys)[...]
            }
            let piece = page.prefix(Self.pieceLines)
            page.removeFirst(piece.count)
            let lines = piece.compactMap { key, change, item in
                teller.tell(change, at: key, item: item).map {
                    TimelineLine(entry: $0, item: item, person: sessions.person(at: key))
                }
            }
            await Task.yield()
            if !lines.isEmpty { return lines }
        }
    }

    private func read(
        _ keys: [TimelineKey]
    ) async throws -> [(key: TimelineKey, change: Change, item: ItemState?)] {
        let job = job
        return try await store.read(of: job) { rows in
            try zip(keys, Self.changes(at: keys, of: rows)).map { key, change in
                let forged = change.forgedRequests(for: job, in: key.journal)
                return (key: key, change: change.leavingOut(forged), item: try rows.item(change.item))
            }
        }
    }

    /// Who reads by time goes through many journals side by side: each stored row is looked at once for a page.
    private static func changes(at keys: [TimelineKey], of job: JobRows) throws -> [Change] {
        var changes: [Int: Change] = [:]
        var row: (journal: ReplicaID, row: JournalRow)?
        let inTurn = keys.indices.sorted {
            (keys[$0].journal, keys[$0].sequence) < (keys[$1].journal, keys[$1].sequence)
        }
        for index in inTurn {
            let key = keys[index]
            if row?.journal != key.journal || row.map({ $0.row.last < key.sequence }) ?? true {
                let piece = try job.journal(of: key.journal).pieces(from: key.sequence, maximumBytes: 1).first
                row = try piece.map { (key.journal, try JournalRow($0)) }
            }
            changes[index] = try row?.row.change(at: key.sequence)
        }
        return try keys.indices.map { index in
            guard let change = changes[index] else {
                throw StoreError(
                    .historyChanged, "The job's history has changed while it was read; run the command again.")
            }
            return change
        }
    }
}

/// A stored row of a journal, in which changes are found by their sequence.
private struct JournalRow {
    let last: UInt64
    private let bytes: [UInt8]
    /// Where each change begins, ascending.
    private let starts: [(sequence: UInt64, offset: Int)]

    init(_ piece: JournalRows.Piece) throws {
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
        let index = starts.partitioningIndex { $0.sequence >= sequence }
        guard index < starts.count, starts[index].sequence == sequence else { return nil }
        let end = index + 1 < starts.count ? starts[index + 1].offset : bytes.count
        return try ChangeCodec.decodeAll(Array(bytes[starts[index].offset..<end])).first
    }
}
