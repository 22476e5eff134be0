import GRDB

/// The table for who is on which job.
enum AssignmentSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Statements of which some word is the last one, of jobs that may not be held, removed ones too: Assignment.
                -- Those of another fleet than the laptop's stand here without effect.
                CREATE TABLE assignment (
                    fleet BLOB NOT NULL,
                    job TEXT NOT NULL,
                    content BLOB NOT NULL,
                    signature BLOB NOT NULL,
                    certificates BLOB NOT NULL,
                    PRIMARY KEY (fleet, job, content)
                ) STRICT, WITHOUT ROWID;
                """)
    }

    static func createCutoffs(_ db: Database) throws {
        try db.execute(
            sql: """
                -- How far the journals of a revoked laptop count in a job: a version vector of that laptop's. What stands here stays
                -- in force, whatever fleet the laptop belongs to later.
                CREATE TABLE cutoff (
                    job TEXT NOT NULL,
                    device TEXT NOT NULL,
                    heads BLOB NOT NULL,
                    PRIMARY KEY (job, device)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
