import GRDB

/// Tables that only the server's store has. Unlike the others they are no index of the journals.
enum ChannelSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Keys that were used, and for what: a key is never used for anything else.
                CREATE TABLE delivery (
                    token BLOB PRIMARY KEY,
                    fingerprint BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- Who may ask. Of the secret only the SHA-256 is kept.
                CREATE TABLE access (
                    hash BLOB PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    created INTEGER NOT NULL,
                    revoked INTEGER
                ) STRICT, WITHOUT ROWID;

                -- In which order the jobs last changed.
                CREATE TABLE changed (
                    job INTEGER PRIMARY KEY,
                    number INTEGER NOT NULL UNIQUE
                ) STRICT;

                -- A trigger takes over the conflict clause of what fires it, so no row is replaced here. A number is
                -- never used again: whoever has read up to the last one would miss the next change.
                CREATE TRIGGER journalBegun AFTER INSERT ON journal BEGIN
                    INSERT INTO changed (job, number) SELECT new.job, (SELECT ifnull(max(number), 0) + 1 FROM changed)
                        WHERE NOT EXISTS (SELECT 1 FROM changed WHERE job = new.job);
                    UPDATE changed SET number = (SELECT max(number) + 1 FROM changed) WHERE job = new.job;
                END;

                CREATE TRIGGER journalGrown AFTER UPDATE ON journal BEGIN
                    UPDATE changed SET number = (SELECT max(number) + 1 FROM changed) WHERE job = new.job;
                END;
                """)
    }

    static func createServer(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Who the server is: its key, and the certificates by which its fleet knows that, both in PEM.
                CREATE TABLE server (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    key TEXT NOT NULL,
                    certificates TEXT NOT NULL
                ) STRICT;
                """)
    }

    static func createAssignments(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Whoever was put on a job finds it in the list of what has changed.
                CREATE TRIGGER assigned AFTER INSERT ON assignment BEGIN
                    UPDATE changed SET number = (SELECT max(number) + 1 FROM changed)
                        WHERE job = (SELECT number FROM job WHERE id = new.job);
                END;
                """)
    }

    static func createRevocations(_ db: Database) throws {
        try db.execute(
            sql: """
                DROP TABLE access;

                -- Whom the fleet has shut out, as laptops have told it: one entry a device, signed.
                CREATE TABLE revocation (
                    device TEXT PRIMARY KEY,
                    entry BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
