import GRDB

/// The tables for what was last heard of other laptops.
enum HeardSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Laptops that were met by a name, and when last, in milliseconds of corrected time.
                CREATE TABLE laptop (
                    device TEXT NOT NULL,
                    name TEXT NOT NULL,
                    heard INTEGER NOT NULL,
                    PRIMARY KEY (device, name)
                ) STRICT, WITHOUT ROWID;

                -- Names that this laptop's store had before it was found to be set back.
                CREATE TABLE former (
                    replica BLOB PRIMARY KEY
                ) STRICT, WITHOUT ROWID;

                -- How far a laptop that takes part in a job was last known to hold each journal.
                CREATE TABLE known (
                    job INTEGER NOT NULL,
                    device TEXT NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    PRIMARY KEY (job, device, replica)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
