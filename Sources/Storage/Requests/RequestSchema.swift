import GRDB

/// The tables for what the server owns: indexes of the journals, all of them.
enum RequestSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Requests and their withdrawals, where they stand; the record is empty for a withdrawal.
                CREATE TABLE request (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    token BLOB NOT NULL,
                    author BLOB NOT NULL,
                    stamp INTEGER NOT NULL,
                    isWithdrawal INTEGER NOT NULL,
                    record BLOB NOT NULL,
                    PRIMARY KEY (job, replica, sequence)
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX requestToken ON request (job, token);

                -- What the server decided: of one token the first entry of the channel.
                CREATE TABLE outcome (
                    job INTEGER NOT NULL,
                    token BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    verdict INTEGER NOT NULL,
                    reason TEXT NOT NULL,
                    PRIMARY KEY (job, token)
                ) STRICT, WITHOUT ROWID;

                -- What the server says: of one name the last entry of the channel.
                CREATE TABLE published (
                    job INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    sequence INTEGER NOT NULL,
                    value TEXT NOT NULL,
                    PRIMARY KEY (job, name)
                ) STRICT, WITHOUT ROWID;

                -- How far the server said to hold each journal.
                CREATE TABLE accepted (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    PRIMARY KEY (job, replica)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
