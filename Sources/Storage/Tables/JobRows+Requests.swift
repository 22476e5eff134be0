import CRDT
import Foundation
import GRDB
import Inventory
import Outbox

/// What the journals say about what the server owns.
extension JobRows {
    /// Notes the statements of a change whose first transform has the given dot. Repeating it changes nothing.
    ///
    /// - Parameter forged: requests in it that count for nothing.
    func note(_ change: Change, at first: Dot, without forged: [MutationRequest]) throws {
        // What somebody else re-issued of the channel is not the channel's word.
        let isServer = first.replica == .channel && change.origin == nil
        for (index, operation) in change.operations.enumerated() {
            let dot = Dot(replica: first.replica, sequence: first.sequence + UInt64(index))
            switch operation {
            case .request(let request) where !forged.contains(request):
                let kept = Change(
                    item: .job, stamp: change.stamp, anchor: change.anchor, operations: [operation])
                try insert(request.token, ChangeCodec.encode(kept), at: dot, by: change.write(in: dot.replica))
            case .withdraw(let token):
                try insert(token, [], at: dot, by: change.write(in: dot.replica))
            case .outcome(let outcome) where isServer: try set(outcome, at: dot.sequence)
            case .publish(let published) where isServer: try set(published, at: dot.sequence)
            case .acknowledge(let positions) where isServer: try accept(positions)
            default: break
            }
        }
    }

    /// Forgets what was read in one journal after a sequence; of the channel everything, as of one name the last word holds.
    func forgetStatements(of replica: ReplicaID, after keep: UInt64) throws {
        try db.execute(
            sql: "DELETE FROM request WHERE job = ? AND replica = ? AND sequence > ?",
            arguments: [number, replica.value.blob, keep.signed])
        guard replica == .channel else { return }
        try db.execute(
            sql: "DELETE FROM outcome WHERE job = ? AND sequence > ?", arguments: [number, keep.signed])
        for table in ["published", "accepted"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [number])
        }
    }

    func outcome(of token: MutationToken) throws -> Outcome? {
        let statement = try db.cachedStatement(sql: "SELECT verdict, reason FROM outcome WHERE job = ? AND token = ?")
        guard let row = try Row.fetchOne(statement, arguments: [number, token.value.blob]),
            let verdict = Outcome.Verdict(rawValue: UInt8(clamping: row["verdict"] as Int))
        else { return nil }
        return Outcome(token: token, verdict: verdict, reason: row["reason"])
    }

    /// Whether somebody took a request back, whatever came of that.
    func isWithdrawn(_ token: MutationToken) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM request WHERE job = ? AND token = ? AND isWithdrawal)")
        return try Bool.fetchOne(statement, arguments: [number, token.value.blob]) ?? false
    }

    func published() throws -> [FieldName: String] {
        let statement = try db.cachedStatement(sql: "SELECT name, value FROM published WHERE job = ?")
        var published: [FieldName: String] = [:]
        for row in try Row.fetchAll(statement, arguments: [number]) {
            if let name = FieldName(row["name"] as String) { published[name] = row["value"] }
        }
        return published
    }

    /// Whether the job is over as the server says or somebody asks, or signed for: looked at with each edit, so nothing is decoded.
    /// True for more than that, as for a name that reads like a state.
    func mayBeClosed() throws -> Bool {
        let published = try RawStatement(
            """
            SELECT 1 FROM published WHERE job = ?1 AND (name = ?2 OR (name = ?3 AND value IN (?4, ?5)))
            """, in: db)
        let (completed, cancelled) = (JobState.completed.rawValue, JobState.cancelled.rawValue)
        let isPublished = try published.first(
            .number(number), .text(FieldName.signature.text), .text(FieldName.jobState.text), .text(completed),
            .text(cancelled)
        ) { _ in true }
        if isPublished != nil { return true }
        // Kinds and states stand in a record as they are written.
        let asked = try RawStatement(
            """
            SELECT 1 FROM request AS asked WHERE job = ?1
                AND (instr(record, ?2) OR instr(record, ?3) OR instr(record, ?4))
                AND NOT EXISTS (SELECT 1 FROM outcome WHERE job = ?1 AND token = asked.token) LIMIT 1
            """, in: db)
        return try asked.first(
            .number(number), .few(Array(SignOff.name.utf8)), .few(Array(completed.utf8)), .few(Array(cancelled.utf8))
        ) { _ in true } != nil
    }

    func accepted() throws -> [Position] {
        let statement = try db.cachedStatement(
            sql: "SELECT replica, sequence FROM accepted WHERE job = ? ORDER BY replica")
        return try Row.fetchAll(statement, arguments: [number]).map {
            Position(
                replica: ReplicaID(UInt128(blob: $0["replica"])), sequence: UInt64(bitPattern: $0["sequence"]))
        }
    }

    private func insert(
        _ token: MutationToken, _ record: [UInt8], at dot: Dot, by write: WriteStamp
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO request (job, replica, sequence, token, author, stamp, isWithdrawal, record)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            number, dot.replica.value.blob, dot.sequence.signed, token.value.blob, write.author.value.blob,
            write.stamp.rawValue.signed, record.isEmpty, Data(record),
        ])
    }

    private func set(_ outcome: Outcome, at sequence: UInt64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO outcome (job, token, sequence, verdict, reason) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET sequence = excluded.sequence, verdict = excluded.verdict,
                    reason = excluded.reason WHERE excluded.sequence < sequence
                """)
        try statement.execute(arguments: [
            number, outcome.token.value.blob, sequence.signed, Int(outcome.verdict.rawValue), outcome.reason,
        ])
    }

    private func set(_ published: PublishedValue, at sequence: UInt64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO published (job, name, sequence, value) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET sequence = excluded.sequence, value = excluded.value
                    WHERE excluded.sequence > sequence
                """)
        try statement.execute(arguments: [number, published.name.text, sequence.signed, published.value])
    }

    private func accept(_ positions: [Position]) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO accepted (job, replica, sequence) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)
                """)
        for position in positions where position.replica != .channel {
            try statement.execute(arguments: [number, position.replica.value.blob, position.sequence.signed])
        }
    }
}
