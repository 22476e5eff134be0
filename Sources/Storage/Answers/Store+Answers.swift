import CRDT
import Foundation
import GRDB
import Inventory

/// Requests that are sent again by who has not heard their answer: carried out once.
extension Store {
    /// What has come of a request that came with a key; nil where none has.
    package func standing(of key: RequestKey) async throws -> RequestStanding? {
        try await read { [self] db in
            guard let row = try AnswerTable(db: db).row(key) else { return nil }
            guard JournalDigest(blob: row["request"]) == key.request else { return .another }
            if let status = row["status"] as Int? {
                return .answered(KeptAnswer(status: status, tag: row["tag"], body: [UInt8](row["body"] as Data)))
            }
            return .unanswered(began: UInt64(bitPattern: row["began"]), try written(row, in: db))
        }
    }

    /// Keeps what was answered to a request that came with a key, durably.
    package func keep(_ answer: KeptAnswer, to key: RequestKey) async throws {
        try await write { db in try AnswerTable(db: db).keep(answer, to: key) }
    }

    /// Nil where the journal is not here any more: the job was removed, or the store has another name.
    private func written(_ row: Row, in db: Database) throws -> WrittenRequest? {
        guard let job = (row["job"] as String?).flatMap({ JobID($0) }), let rows = try JobRows(known: job, in: db)
        else {
            return nil
        }
        let (first, last) = (UInt64(bitPattern: row["first"]), UInt64(bitPattern: row["last"]))
        let replica = ReplicaID(UInt128(blob: row["replica"]))
        var changes: [Change] = []
        var next = first
        while next <= last {
            guard let run = try segment(of: replica, from: next, maximumBytes: 1, in: rows) else { return nil }
            for change in try ChangeCodec.decodeAll(run.bytes) {
                if next <= last { changes.append(change) }
                next += UInt64(change.operations.count)
            }
        }
        return WrittenRequest(job: job, changes: changes.filter { !$0.saysWhoWrites })
    }
}

extension Change {
    /// What stands before what a person writes: see `JobTransaction.preamble`.
    fileprivate var saysWhoWrites: Bool {
        item == .job
            && operations.allSatisfy { operation in
                if case .set(let field, _, _) = operation { JobProperty.isAuthor(field) } else { false }
            }
    }
}

extension Store {
    /// For tests: what is left where the program ends between what it has written and each of its answers.
    package func forgetAnswers() async throws {
        try await write { db in
            try db.execute(
                sql: """
                    DELETE FROM answer WHERE job IS NULL;
                    UPDATE answer SET status = NULL, tag = NULL, body = NULL;
                    """)
        }
    }
}
