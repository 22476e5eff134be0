import Authorship
package import CRDT
import GRDB
package import Outbox

/// A job that has changed.
package struct JobChange: Hashable, Sendable {
    /// The job, removed ones too: a removal is a change like any other.
    package let job: JobID
    /// The last ordering id.
    package let head: UInt64
    /// One number for the version vector: a laptop whose vector has the same one holds the same journals.
    package let fingerprint: UInt64
}

/// Jobs in the order of their last change.
package struct JobChangePage: Hashable, Sendable {
    /// The jobs that changed since the cursor, the latest at the end; empty when none did.
    package let changes: [JobChange]
    /// For the next page.
    package let cursor: String
    /// It begins with the first job: what was listed before says nothing any more.
    package let isFromStart: Bool
}

/// A run of the channel, and where the channel ends.
package struct ChannelRun: Hashable, Sendable {
    /// Nil when nothing follows.
    package let segment: JournalSegment?
    /// The last ordering id that is held; 0 for a job of which the server has said nothing.
    package let head: UInt64
}

extension Store {
    /// Jobs in the order of their last change, each once; only for a store that is the channel.
    ///
    /// - Parameter cursor: of an earlier page; none, or one that was not given since this store was opened, means from
    ///   the start. (A server that was set back uses its numbers again.)
    package func jobChanges(since cursor: String?, limit: Int) async throws -> JobChangePage {
        try await read { [opening] db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM changed") ?? 0
            let parts = (cursor ?? "").split(separator: "-")
            let given = parts.count == 2 && UInt64(parts[0], radix: 16) == opening ? Int64(parts[1]) ?? 0 : 0
            let start = given > last || given < 0 ? 0 : given
            var reached = start
            let statement = try db.cachedStatement(
                sql: """
                    SELECT changed.number AS place, job.number AS number, job.id AS id
                    FROM changed JOIN job ON job.number = changed.job WHERE changed.number > ? ORDER BY place LIMIT ?
                    """)
            var changes: [JobChange] = []
            for row in try Row.fetchAll(statement, arguments: [reached, limit]) {
                reached = row["place"]
                guard let job = JobID(row["id"] as String) else { continue }
                let vector = try JobRows(row["number"], in: db).vector()
                changes.append(
                    JobChange(job: job, head: vector[.channel].sequence, fingerprint: vector.fingerprint))
            }
            return JobChangePage(
                changes: changes, cursor: "\(String(opening, radix: 16))-\(reached)", isFromStart: start == 0)
        }
    }

    /// Whole changes of the channel after an ordering id, at most `limit` of them.
    package func channelRun(of job: JobID, after sequence: UInt64, limit: Int) async throws -> ChannelRun {
        try await read(of: job) { [self] in
            try signed($0.channel.run(after: sequence, limit: limit), of: job, in: $0.db)
        }
    }

    /// What who sent requests does not hold of the channels of their jobs, where it says what it holds: each job once, as they
    /// were at one time, and of all together little more than of one alone.
    package func channelRuns(
        for deliveries: some Sequence<Delivery>, limit: Int
    ) async throws -> [(job: JobID, run: ChannelRun)] {
        var known: [JobID: UInt64] = [:]
        for delivery in deliveries { known[delivery.job] = known[delivery.job] ?? delivery.knownChannel }
        let places = known.sorted { $0.key < $1.key }
        return try await read { [self] db in
            try places.map { job, sequence in
                let run = try JobRows(of: job, in: db).channel.run(
                    after: sequence, limit: max(1, limit / places.count),
                    sufficientBytes: JournalRows.longestSegmentBytes / places.count)
                return (job, try signed(run, of: job, in: db))
            }
        }
    }

    /// An answer ends where its reader wants it to: seldom where a row does, which is signed already.
    private func signed(_ run: ChannelRun, of job: JobID, in db: Database) throws -> ChannelRun {
        guard var segment = run.segment else { return run }
        segment.signature = try seal(segment.head, of: job)
        segment.author = try author(of: segment, in: db)
        return ChannelRun(segment: segment, head: run.head)
    }
}

extension JournalRows {
    /// Ends with the change that makes it as long as `sufficientBytes`.
    fileprivate func run(
        after sequence: UInt64, limit: Int, sufficientBytes: Int = longestSegmentBytes
    ) throws -> ChannelRun {
        let end = try head().sequence
        guard sequence < end else { return ChannelRun(segment: nil, head: end) }
        let pieces = try pieces(from: sequence + 1, maximumBytes: sufficientBytes)
        guard let start = pieces.first?.first else { return ChannelRun(segment: nil, head: end) }
        var reached = try headBefore(start)
        var first = sequence + 1
        var bytes: [UInt8] = []
        var count = 0
        var last = reached
        for piece in pieces {
            try ChangeCodec.scan(piece.bytes) { scanned, buffer in
                guard count < limit, bytes.count < sufficientBytes else { return }
                let begin = reached.sequence + 1
                reached = reached.after(scanned, in: buffer)
                guard reached.sequence > sequence else { return }
                if count == 0 { first = begin }
                bytes += buffer[scanned.record]
                last = reached
                count += 1
            }
        }
        return ChannelRun(segment: JournalSegment(replica: replica, first: first, head: last, bytes: bytes), head: end)
    }
}
