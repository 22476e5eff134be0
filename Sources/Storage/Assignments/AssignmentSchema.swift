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
}
