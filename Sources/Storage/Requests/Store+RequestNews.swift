package import CRDT
import GRDB
package import Outbox

/// How far the requests of a job have been looked at: of each journal up to where, and of which content (rule R9).
package typealias RequestMark = [ReplicaID: JournalHead]

/// What the journals of a job say of requests since somebody last looked.
package struct RequestNews: Hashable, Sendable {
    /// Those that nobody has decided or withdrawn, in the order of their journals.
    package let entries: [OutboxEntry]
    /// Requests that new withdrawals name, in the order of their journals; decided and unknown ones among them.
    package let withdrawn: [MutationToken]
    /// What the channel has decided since, in its order.
    package let outcomes: [Outcome]
    /// How far everything was looked at: for the next look.
    package let mark: RequestMark
}

/// What the outbox is made of again at a start.
package struct OutboxStart: Sendable {
    /// Pauses and the server's wish to be left alone, as they were last remembered.
    package let standing: OutboxStanding
    /// What waits, and what has a record and was decided meanwhile; by job, then in the order of the journals.
    package let entries: [OutboxEntry]
    /// Everything that was remembered of single requests, ascending by token.
    package let records: [OutboxRecord]
    /// What the server decided of the entries; of no other request.
    package let outcomes: [Outcome]
    /// How far each job was looked at, for `requestNews`.
    package let marks: [JobID: RequestMark]
}

extension Store {
    /// Reads what has come to a job's journals since a mark, from one state of the store; an empty mark means from the
    /// start.
    ///
    /// What has given way to another branch since the mark is read from its journal's beginning (rule R9).
    package func requestNews(of job: JobID, since mark: RequestMark) async throws -> RequestNews {
        let replica = identity.replica
        return try await read(of: job) {
            try $0.requestNews(of: job, since: mark, own: replica, isForStart: false)
        }
    }

    /// Reads what the outbox needs at a start, of all jobs and from one state of the store.
    package func outboxStart() async throws -> OutboxStart {
        let replica = identity.replica
        return try await read { db in
            let records = try OutboxTable.all(in: db)
            let recorded = Set(records.map(\.token))
            var entries: [OutboxEntry] = []
            var outcomes: [Outcome] = []
            var marks: [JobID: RequestMark] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT number, id FROM job ORDER BY id") {
                guard let job = JobID(row["id"] as String) else { continue }
                let news = try JobRows(row["number"], in: db).requestNews(
                    of: job, since: [:], own: replica, isForStart: true)
                let withdrawn = Set(news.withdrawn)
                let decided = Set(news.outcomes.map(\.token))
                let pending = news.entries.filter {
                    recorded.contains($0.token)
                        ? decided.contains($0.token) || !withdrawn.contains($0.token)
                        : !decided.contains($0.token) && !withdrawn.contains($0.token)
                }
                entries += pending
                let named = Set(pending.map(\.token))
                outcomes += news.outcomes.filter { named.contains($0.token) }
                marks[job] = news.mark
            }
            return OutboxStart(
                standing: try OutboxStandingTable.get(in: db), entries: entries, records: records,
                outcomes: outcomes, marks: marks)
        }
    }

}

extension JobRows {
    fileprivate func requestNews(
        of job: JobID, since mark: RequestMark, own: ReplicaID, isForStart: Bool
    ) throws -> RequestNews {
        let ownTokens = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM outbox WHERE token = ? AND isOwn)")
        let after = try db.cachedStatement(
            sql: """
                SELECT * FROM request AS asked WHERE job = ?1 AND replica = ?2 AND sequence > ?3
                    AND (?4 OR isWithdrawal
                        OR NOT EXISTS (SELECT 1 FROM outcome WHERE job = ?1 AND token = asked.token)
                        AND NOT EXISTS
                            (SELECT 1 FROM request WHERE job = ?1 AND token = asked.token AND isWithdrawal))
                ORDER BY sequence
                """)
        var entries: [OutboxEntry] = []
        var withdrawn: [MutationToken] = []
        var reached: RequestMark = [:]
        let since = try channel.unchanged(mark[.channel] ?? .empty)
        for entry in try vector().entries {
            reached[entry.replica] = entry.head
            let seen = mark[entry.replica] ?? .empty
            if seen == entry.head { continue }
            let from =
                entry.replica == .channel
                ? since : try journal(of: entry.replica).unchanged(seen)
            let rows = try Row.fetchAll(
                after, arguments: [number, entry.replica.value.blob, from.signed, isForStart])
            for row in rows {
                guard let stored = try Store.request(row) else {
                    withdrawn.append(MutationToken(UInt128(blob: row["token"])))
                    continue
                }
                let isOwn =
                    try stored.write.author == own
                    || Bool.fetchOne(
                        ownTokens, arguments: [stored.request.token.value.blob]) == true
                entries.append(
                    OutboxEntry(
                        request: stored.request, job: job, author: stored.dot.replica, sequence: stored.dot.sequence,
                        created: stored.write.stamp, isOwn: isOwn))
            }
        }
        let decided = try db.cachedStatement(
            sql: "SELECT token, verdict, reason FROM outcome WHERE job = ? AND sequence > ? ORDER BY sequence")
        let outcomes = try Row.fetchAll(decided, arguments: [number, since.signed]).compactMap { row in
            Outcome.Verdict(rawValue: UInt8(clamping: row["verdict"] as Int)).map {
                Outcome(token: MutationToken(UInt128(blob: row["token"])), verdict: $0, reason: row["reason"])
            }
        }
        return RequestNews(entries: entries, withdrawn: withdrawn, outcomes: outcomes, mark: reached)
    }
}

extension JournalRows {
    /// Up to where a journal is still what was looked at: another branch may have taken its place, which is looked at from
    /// its beginning.
    fileprivate func unchanged(_ seen: JournalHead) throws -> UInt64 { try passes(seen) ? seen.sequence : 0 }
}
