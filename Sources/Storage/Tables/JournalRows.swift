import Authorship
import CRDT
import Foundation
import GRDB

/// One journal of a job, as the open transaction sees it: how far it reaches (`journal`) and its content (`segment`).
struct JournalRows {
    let job: JobRows
    let replica: ReplicaID
    var db: Database { job.db }
    var key: JournalKey { JournalKey(job: job.number, replica: replica) }

    /// Segments that were written one by one are joined when this many have come together: one row in the place of
    /// many keeps a later catch-up cheap.
    static let looseSegmentLimit = 256
    static let smallSegmentBytes = 8 << 10
    /// A row is passed on as it is, so it stays well below a frame: longer runs are cut into rows of about
    /// `segmentBytes`, which one more change cannot bring near a frame either.
    static let longestSegmentBytes = 512 << 10
    static let segmentBytes = JournalSegment.usualBytes

    /// Where it ends here.
    func head() throws -> JournalHead {
        let statement = try RawStatement("SELECT sequence, digest FROM journal WHERE job = ? AND replica = ?", in: db)
        let head = try statement.first(.number(job.number), .id(replica.value)) { columns in
            JournalHead(
                sequence: UInt64(bitPattern: columns.number(0)), digest: JournalDigest(column: columns.blob(1)))
        }
        return head ?? .empty
    }

    /// Appends a run that follows `base`, in several rows if it is long: a row has to fit into a frame.
    ///
    /// - Parameter seal: gives the author's signature over where a row ends, if there is one.
    /// - Returns: that of the last row.
    @discardableResult
    func append(
        _ bytes: ArraySlice<UInt8>, after base: JournalHead, head: JournalHead, latest: Stamp,
        seal: (JournalHead) throws -> JournalSignature?
    ) throws -> JournalSignature? {
        var signature: JournalSignature?
        if bytes.count <= Self.longestSegmentBytes {
            signature = try seal(head)
            try insert(bytes, after: base, head: head, signature)
        } else {
            let bytes = Array(bytes)
            var last = base
            for part in try Self.parts(of: bytes, after: base) {
                signature = try seal(part.head)
                try insert(bytes[part.range], after: last, head: part.head, signature)
                last = part.head
            }
        }
        try setHead(head, latest: latest)
        return signature
    }

    func insert(
        _ bytes: ArraySlice<UInt8>, after base: JournalHead, head: JournalHead, _ signature: JournalSignature?
    ) throws {
        try RawStatement(
            "INSERT INTO segment (job, replica, first, last, digest, signature, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            in: db
        ).run(
            .number(job.number), .id(replica.value), .number((base.sequence + 1).signed), .number(head.sequence.signed),
            .digest(head.digest), .few(signature?.bytes), .bytes(bytes))
    }

    /// Cuts a run at each first change past `segmentBytes`.
    private static func parts(
        of bytes: [UInt8], after base: JournalHead
    ) throws(CodecError) -> [(range: Range<Int>, head: JournalHead)] {
        var parts: [(range: Range<Int>, head: JournalHead)] = []
        var start = 0
        var head = base
        try ChangeCodec.scan(bytes) { scanned, buffer in
            head = head.after(scanned, in: buffer)
            let end = scanned.record.upperBound
            guard end - start >= segmentBytes || end == bytes.count else { return }
            parts.append((start..<end, head))
            start = end
        }
        return parts
    }

    func setHead(_ head: JournalHead, latest: Stamp) throws {
        try RawStatement(
            """
            INSERT INTO journal (job, replica, sequence, digest, stamp) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET sequence = excluded.sequence, digest = excluded.digest,
                stamp = max(stamp, excluded.stamp)
            """, in: db
        ).run(
            .number(job.number), .id(replica.value), .number(head.sequence.signed), .digest(head.digest),
            .number(latest.rawValue.signed))
    }

    /// A stored row of a journal.
    struct Piece {
        let first: UInt64
        let head: JournalHead
        let bytes: [UInt8]
        /// Of the author over the head; nil where another branch was put after it.
        let signature: JournalSignature?

        init(_ row: Row) throws {
            first = UInt64(bitPattern: row["first"])
            head = JournalHead(sequence: UInt64(bitPattern: row["last"]), digest: JournalDigest(blob: row["digest"]))
            bytes = try row.withUnsafeData(named: "bytes") { [UInt8]($0 ?? Data()) }
            signature = (row["signature"] as Data?).flatMap { JournalSignature([UInt8]($0)) }
        }
    }

    /// The row that holds `sequence` and those after it, until `maximumBytes` are together (at least one), and up to one that
    /// its author has signed. Those before that one begin a run of their own, which has room for all of them.
    func pieces(from sequence: UInt64, maximumBytes: Int) throws -> [Piece] {
        let cursor = try rows(from: sequence)
        var pieces: [Piece] = []
        var total = 0
        var isOpen = true
        while total < maximumBytes || isOpen, let row = try cursor.next() {
            let piece = try Piece(row)
            let isUnsigned = piece.signature == nil
            if !pieces.isEmpty, !isOpen, isUnsigned || total + piece.bytes.count > maximumBytes { break }
            total += piece.bytes.count
            pieces.append(piece)
            isOpen = isUnsigned
        }
        return pieces
    }

    /// The row that holds `sequence` and all after it.
    func pieces(from sequence: UInt64) throws -> [Piece] {
        let cursor = try rows(from: sequence)
        var pieces: [Piece] = []
        while let row = try cursor.next() { pieces.append(try Piece(row)) }
        return pieces
    }

    private func rows(from sequence: UInt64) throws -> RowCursor {
        let statement = try db.cachedStatement(
            sql: """
                SELECT first, last, digest, signature, bytes FROM segment
                WHERE job = ? AND replica = ? AND last >= ? ORDER BY last
                """)
        return try Row.fetchCursor(statement, arguments: [job.number, replica.value.blob, sequence.signed])
    }

    /// How long the row that ends at or before `sequence` without a signature is with all that leaves together with it.
    func unsignedBytes(around sequence: UInt64) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    WITH signed AS (
                        SELECT last FROM segment WHERE job = ?1 AND replica = ?2 AND signature IS NOT NULL)
                    SELECT sum(length(bytes)) FROM segment WHERE job = ?1 AND replica = ?2
                        AND last > ifnull((SELECT max(last) FROM signed WHERE last <= ?3), 0)
                        AND last <= (SELECT min(last) FROM signed WHERE last > ?3)
                    """), arguments: [job.number, replica.value.blob, sequence.signed]) ?? 0
    }

    /// Where the journal stood just before a stored row that begins with `first`.
    func headBefore(_ first: UInt64) throws -> JournalHead {
        guard first > 1 else { return .empty }
        if let digest = try storedDigest(at: first - 1) { return JournalHead(sequence: first - 1, digest: digest) }
        // What is before it went with the job.
        let removed = try removedHead()
        guard removed.sequence == first - 1 else {
            throw StoreError(.damaged, "A journal has a gap; the store is damaged.")
        }
        return removed
    }

    /// Where the change that holds a sequence ends, with the digest there, and its own hash; nil beyond the journal's end.
    /// What went with a removed job counts as one change.
    func boundary(at sequence: UInt64) throws -> (head: JournalHead, changeHash: UInt64)? {
        guard let piece = try pieces(from: sequence, maximumBytes: 1).first,
            piece.first <= sequence
        else {
            let removed = try removedHead()
            return sequence > 0 && sequence <= removed.sequence ? (removed, 0) : nil
        }
        var head = try headBefore(piece.first)
        var changeHash: UInt64 = 0
        try ChangeCodec.scan(piece.bytes) { scanned, buffer in
            guard head.sequence < sequence else { return }
            head = head.after(scanned, in: buffer)
            guard head.sequence >= sequence else { return }
            changeHash = scanned.hash(in: buffer)
        }
        return (head, changeHash)
    }

    /// Whether a journal has stood here on its way to where it stands now.
    func passes(_ head: JournalHead) throws -> Bool {
        guard head.sequence > 0 else { return head == .empty }
        // Mostly a run ends there: then nothing has to be read.
        if let digest = try storedDigest(at: head.sequence) { return digest == head.digest }
        // What went with the job cannot be looked at any more.
        let removed = try removedHead()
        if head.sequence < removed.sequence { return true }
        return try boundary(at: head.sequence)?.head == head
    }

    /// The digest where a row ends.
    private func storedDigest(at sequence: UInt64) throws -> JournalDigest? {
        try Data.fetchOne(
            db.cachedStatement(sql: "SELECT digest FROM segment WHERE job = ? AND replica = ? AND last = ?"),
            arguments: [job.number, replica.value.blob, sequence.signed]
        ).map(JournalDigest.init(blob:))
    }

    /// Joins the small rows at the end of a journal into one, which the signature of the newest covers.
    func joinSmallSegments() throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid, first, last, bytes FROM segment WHERE job = ? AND replica = ?
                    ORDER BY last DESC LIMIT ?
                    """), arguments: [job.number, replica.value.blob, Self.looseSegmentLimit])
        var total = 0
        let small = rows.prefix { row in
            let count = (row["bytes"] as Data).count
            total += count
            return count <= Self.smallSegmentBytes && total <= Self.segmentBytes
        }.reversed()
        guard small.count > 1, let oldest = small.first, let newest = small.last else { return }
        var joined = Data()
        for row in small { joined.append(row["bytes"] as Data) }
        // In one statement: 256 of them would make every 256th edit wait for milliseconds.
        try RawStatement("DELETE FROM segment WHERE job = ? AND replica = ? AND last >= ? AND last < ?", in: db).run(
            .number(job.number), .id(replica.value), .number(oldest["last"]), .number(newest["last"]))
        try db.execute(
            sql: "UPDATE segment SET first = ?, bytes = ? WHERE rowid = ?",
            arguments: [oldest["first"] as Int64, joined, newest["rowid"] as Int64])
    }
}
