import GRDB

/// The tables for jobs that have ended.
enum RemovalSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- What the removers of a job held, of all of them the farthest.
                CREATE TABLE removal (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    digest BLOB NOT NULL,
                    PRIMARY KEY (job, replica)
                ) STRICT, WITHOUT ROWID;

                -- Late changes that a person has dealt with, by their identities: an index of the journals.
                CREATE TABLE decided (
                    job INTEGER NOT NULL,
                    change INTEGER NOT NULL,
                    PRIMARY KEY (job, change)
                ) STRICT, WITHOUT ROWID;

                -- Former numbers of removed jobs, under which rows are left that nobody needs.
                CREATE TABLE garbage (
                    number INTEGER PRIMARY KEY
                ) STRICT;

                -- Journals under a name that this store has given up, of which it may hold what nobody else knows.
                CREATE TABLE doubtful (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    PRIMARY KEY (job, replica)
                ) STRICT, WITHOUT ROWID;
                """)
    }

    static func createFormerItems(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The number under which a job lived, and the one that it has now that it is removed: of the last that were.
                CREATE TABLE formerJob (
                    job INTEGER PRIMARY KEY,
                    current INTEGER NOT NULL
                ) STRICT;

                -- What its items were called.
                CREATE TABLE formerItem (
                    job INTEGER NOT NULL,
                    item BLOB NOT NULL,
                    label TEXT NOT NULL,
                    PRIMARY KEY (job, item)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
