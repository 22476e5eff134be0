import CRDT
import Foundation
import GRDB
import Inventory

/// What a journal says of who was at its author's laptop.
extension JournalRows {
    /// What was said last of this journal's own author.
    func lastPerson() throws -> WorkSessionRecord? {
        let statement = try RawStatement(
            """
            SELECT sequence, stamp, before, text FROM person WHERE job = ?1 AND journal = ?2 AND author = ?2
            ORDER BY sequence DESC LIMIT 1
            """, in: db)
        return try statement.first(.number(job.number), .id(replica.value)) { columns in
            WorkSessionRecord(
                journal: replica, author: replica, sequence: UInt64(bitPattern: columns.number(0)),
                stamp: Stamp(rawValue: UInt64(bitPattern: columns.number(1))),
                before: Stamp(rawValue: UInt64(bitPattern: columns.number(2))),
                text: String(decoding: columns.blob(3), as: UTF8.self))
        }
    }

    /// The greatest stamp of what is held of it.
    func latestStamp() throws -> Stamp {
        let statement = try RawStatement("SELECT stamp FROM journal WHERE job = ? AND replica = ?", in: db)
        return try statement.first(.number(job.number), .id(replica.value)) {
            Stamp(rawValue: UInt64(bitPattern: $0.number(0)))
        } ?? .zero
    }

    func note(_ record: WorkSessionRecord) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO person (job, journal, author, sequence, stamp, before, text)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            job.number, record.journal.value.blob, record.author.value.blob, record.sequence.signed,
            record.stamp.rawValue.signed, record.before.rawValue.signed, Data(record.text.utf8),
        ])
    }

    func forgetPeople() throws {
        try db.execute(
            sql: "DELETE FROM person WHERE job = ? AND journal = ?", arguments: [job.number, replica.value.blob])
    }

    /// Reads all of it again: it has got another content, or other stamps.
    func notePeopleAgain() throws {
        try forgetPeople()
        var latest = Stamp.zero
        var latestOf: [ReplicaID: Stamp] = [:]
        try job.forEachRecord(of: replica) { scanned, buffer, dot in
            let author = scanned.origin ?? replica
            if scanned.item == .job, scanned.statementCount == 0,
                let text = ChangeCodec.decode(scanned, in: buffer).workSessionText(in: replica)
            {
                try note(
                    WorkSessionRecord(
                        journal: replica, author: author, sequence: dot.sequence, stamp: scanned.stamp,
                        before: author == replica ? latest : latestOf[author] ?? .zero, text: text))
            }
            latest = max(latest, scanned.stamp)
            if author != replica { latestOf[author] = max(latestOf[author] ?? .zero, scanned.stamp) }
        }
    }
}

extension JobRows {
    /// Who was at which laptop when.
    func workSessions() throws -> WorkSessions {
        var sessions = WorkSessions()
        let cursor = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT * FROM person WHERE job = ? ORDER BY journal, author, sequence"),
            arguments: [number])
        while let row = try cursor.next() {
            sessions.add(
                WorkSessionRecord(
                    journal: ReplicaID(UInt128(blob: row["journal"])), author: ReplicaID(UInt128(blob: row["author"])),
                    sequence: UInt64(bitPattern: row["sequence"]),
                    stamp: Stamp(rawValue: UInt64(bitPattern: row["stamp"])),
                    before: Stamp(rawValue: UInt64(bitPattern: row["before"])),
                    text: String(decoding: row["text"] as Data, as: UTF8.self)))
        }
        return sessions
    }
}
