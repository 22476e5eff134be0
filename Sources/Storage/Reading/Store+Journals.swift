package import CRDT
import Foundation
import GRDB

extension Store {
    /// Every job with its version vector, by id.
    package func vectors() async throws -> [(job: JobID, vector: VersionVector)] {
        try await read { db in
            // One statement for all: with one for each job, thousands of jobs cost the caller tens of milliseconds.
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT id, replica, sequence, journal.digest FROM job LEFT JOIN journal ON journal.job = job.number
                        ORDER BY id, replica
                        """))
            var vectors: [(job: JobID, vector: VersionVector)] = []
            var entries: [VersionVector.Entry] = []
            var current: String?
            func finish() {
                if let job = current.flatMap({ JobID($0) }) { vectors.append((job, VersionVector(entries))) }
                entries.removeAll(keepingCapacity: true)
            }
            while let row = try rows.next() {
                let id: String = row["id"]
                if id != current {
                    finish()
                    current = id
                }
                guard let replica: Data = row["replica"] else { continue }
                entries.append(
                    VersionVector.Entry(replica: ReplicaID(UInt128(blob: replica)), head: JournalHead(row: row)))
            }
            finish()
            return vectors
        }
    }

    /// How far the journals of a job are held durably, the channel among them.
    ///
    /// - Throws: `StoreError.Code.unknownJob` when nothing is known of the job.
    package func vector(of job: JobID) async throws -> VersionVector {
        try await read(of: job) { try $0.vector() }
    }

    /// The journal from the change that holds `sequence` on, at most about `maximumBytes`; nil when it ends before.
    package func segment(
        of replica: ReplicaID, job: JobID, from sequence: UInt64, maximumBytes: Int
    ) async throws -> JournalSegment? {
        try await read(of: job) { [self] rows in
            try segment(of: replica, from: sequence, maximumBytes: maximumBytes, in: rows)
        }
    }

    func segment(
        of replica: ReplicaID, from sequence: UInt64, maximumBytes: Int, in rows: JobRows
    ) throws -> JournalSegment? {
        let pieces = try rows.journal(of: replica).pieces(from: sequence, maximumBytes: maximumBytes)
        // What went with a removed job is nowhere any more.
        guard let first = pieces.first, let last = pieces.last, first.first <= sequence else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieces.reduce(0) { $0 + $1.bytes.count })
        for piece in pieces { bytes.append(contentsOf: piece.bytes) }
        let cut = try Self.offset(of: sequence, in: bytes, first: first.first)
        if cut.offset > 0 { bytes.removeFirst(cut.offset) }
        var segment = JournalSegment(
            replica: replica, first: cut.first, head: last.head, bytes: bytes, signature: last.signature)
        segment.author = try author(of: segment, in: rows.db)
        return segment
    }

    /// The journal from the change that holds `sequence` on, in runs that follow one another; none when it ends before.
    ///
    /// - Parameters:
    ///   - sufficientBytes: nothing more is read past that; a run that would go far beyond it is left for the next time.
    ///   - limit: of runs.
    /// - Throws: when not even the first can be read; else it ends before what cannot be read.
    package func runs(
        of replica: ReplicaID, job: JobID, from sequence: UInt64, sufficientBytes: Int, limit: Int = .max
    ) async throws -> [JournalSegment] {
        let usual = JournalSegment.usualBytes
        var runs: [JournalSegment] = []
        var (next, bytes) = (sequence, 0)
        do {
            while bytes < sufficientBytes, runs.count < limit,
                let run = try await segment(of: replica, job: job, from: next, maximumBytes: usual)
            {
                if !runs.isEmpty, bytes + run.bytes.count > sufficientBytes + usual { break }
                runs.append(run)
                bytes += run.bytes.count
                next = run.head.sequence + 1
            }
        } catch {
            // What stands before the damage is sound.
            if runs.isEmpty { throw error }
        }
        return runs
    }

    /// Where the change that holds `sequence` ends, with the digest there, and its own hash; nil beyond the journal's end.
    ///
    /// Of two contents the one with the smaller hash stays: 0 for what counts of a laptop that was revoked, so that its thief puts
    /// nothing in the place of that.
    package func boundary(
        of replica: ReplicaID, job: JobID, at sequence: UInt64
    ) async throws -> (head: JournalHead, changeHash: UInt64)? {
        try await read { db in
            guard let journal = try JobRows(known: job, in: db)?.journal(of: replica),
                let found = try journal.boundary(at: sequence)
            else { return nil }
            return try journal.isCounted(through: found.head.sequence) ? (found.head, 0) : found
        }
    }

    /// Where in a run of journal the change that holds `sequence` begins.
    private static func offset(
        of sequence: UInt64, in bytes: [UInt8], first: UInt64
    ) throws -> (offset: Int, first: UInt64) {
        guard first < sequence else { return (0, first) }
        var next = first
        var found: (Int, UInt64)?
        try ChangeCodec.scan(bytes) { scanned, _ in
            if found == nil, next + UInt64(scanned.operationCount) > sequence {
                found = (scanned.record.lowerBound, next)
            }
            next += UInt64(scanned.operationCount)
        }
        return found ?? (0, first)
    }
}
