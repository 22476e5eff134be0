import CRDT
import Foundation
import GRDB

/// What was asked for with a key: noted in the transaction that carries it out, and with its answer afterwards.
struct AnswerTable {
    /// So many requests are known again, and so much of their answers.
    static let longest = 10_000
    static let mostBytes = 64 << 20
    /// Answers of more than this are counted whenever one is kept; as many as there are of less stay below `mostBytes`.
    private static let countedBytes = 4 << 10

    let db: Database

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Requests of the local API that came with a key, the newest last: what they wrote, and what was answered.
                CREATE TABLE answer (
                    number INTEGER PRIMARY KEY,
                    -- -1 where it is not known.
                    user INTEGER NOT NULL,
                    key TEXT NOT NULL,
                    request BLOB NOT NULL,
                    began INTEGER NOT NULL,
                    -- The run of this store's journal, if it wrote any.
                    job TEXT,
                    replica BLOB,
                    first INTEGER,
                    last INTEGER,
                    status INTEGER,
                    tag TEXT,
                    body BLOB,
                    UNIQUE (user, key)
                ) STRICT;
                """)
    }

    /// Notes what a request has written; of one that writes in several transactions all of it.
    func note(_ key: RequestKey, wrote segment: JournalSegment, in job: JobID) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO answer (user, key, request, began, job, replica, first, last) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET last = excluded.last WHERE job = excluded.job AND replica = excluded.replica
                """
        ).execute(arguments: [
            Self.user(key), key.text, key.request.blob, key.began.signed, job.text, segment.replica.value.blob,
            segment.first.signed, segment.head.sequence.signed,
        ])
        try forget()
    }

    func keep(_ answer: KeptAnswer, to key: RequestKey) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO answer (user, key, request, began, status, tag, body) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET status = excluded.status, tag = excluded.tag, body = excluded.body
                """
        ).execute(arguments: [
            Self.user(key), key.text, key.request.blob, key.began.signed, answer.status, answer.tag, Data(answer.body),
        ])
        try forget()
        guard answer.body.count > Self.countedBytes else { return }
        try db.execute(
            sql: """
                DELETE FROM answer WHERE number <= (
                    SELECT max(number) FROM (
                        SELECT number, sum(ifnull(length(body), 0)) OVER (ORDER BY number DESC) AS bytes FROM answer
                    ) WHERE bytes > ?)
                """, arguments: [Self.mostBytes])
    }

    func row(_ key: RequestKey) throws -> Row? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM answer WHERE user = ? AND key = ?"),
            arguments: [Self.user(key), key.text])
    }

    private func forget() throws {
        try db.cachedStatement(sql: "DELETE FROM answer WHERE number <= (SELECT max(number) FROM answer) - ?")
            .execute(arguments: [Self.longest])
    }

    private static func user(_ key: RequestKey) -> Int64 { key.user.map { Int64($0) } ?? -1 }
}
