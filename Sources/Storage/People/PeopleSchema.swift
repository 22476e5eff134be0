import CRDT
import GRDB
import Inventory

/// The tables for who is at this laptop, and who was at which laptop when.
enum PeopleSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Who is at this laptop now, by the Unix user of the machine: WorkSession.text.
                CREATE TABLE workSession (
                    user INTEGER PRIMARY KEY,
                    text BLOB NOT NULL
                ) STRICT;

                -- Names that were taken here; those in the jobs that are held stand there.
                CREATE TABLE crew (
                    name BLOB PRIMARY KEY
                ) STRICT, WITHOUT ROWID;

                -- What the journals say of people, found again by the place: WorkSessionRecord. All of it follows from segments.
                CREATE TABLE person (
                    job INTEGER NOT NULL,
                    journal BLOB NOT NULL,
                    author BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    stamp INTEGER NOT NULL,
                    before INTEGER NOT NULL,
                    text BLOB NOT NULL,
                    PRIMARY KEY (job, journal, author, sequence)
                ) STRICT, WITHOUT ROWID;
                """)
        // Journals may hold them already, from laptops with a newer version.
        for number in try Int64.fetchAll(db, sql: "SELECT number FROM job") {
            let job = JobRows(number, in: db)
            guard try job.item(.job)?.fields.contains(where: { JobProperty.isPerson($0.name) }) ?? false else {
                continue
            }
            for replica in try job.vector().entries.map(\.replica) { try job.journal(of: replica).notePeopleAgain() }
        }
    }
}
