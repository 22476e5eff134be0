import GRDB

/// The tables for what the outbox remembers. The requests themselves stand in journals.
enum OutboxSchema {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Waits in milliseconds since the boot: a restart goes on with them.
                CREATE TABLE outbox (
                    token BLOB PRIMARY KEY,
                    -- Asked for on this device, under whatever name its store had.
                    isOwn INTEGER NOT NULL DEFAULT 0,
                    attempts INTEGER NOT NULL,
                    failures INTEGER NOT NULL,
                    waitSince INTEGER,
                    waitMilliseconds INTEGER,
                    waitCause TEXT,
                    lastError TEXT,
                    state TEXT NOT NULL,
                    -- What was answered and is not published yet; or why it was rejected for good.
                    verdict INTEGER,
                    reason TEXT
                ) STRICT, WITHOUT ROWID;

                -- At most one row.
                CREATE TABLE outboxStanding (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    isPaused INTEGER NOT NULL,
                    restSince INTEGER,
                    restMilliseconds INTEGER,
                    restCause TEXT,
                    restFailures INTEGER
                ) STRICT;

                -- Lanes that a person has paused, as JOB/LANE.
                CREATE TABLE outboxPause (
                    lane TEXT PRIMARY KEY
                ) STRICT, WITHOUT ROWID;

                -- At most one row: when the server last answered, in corrected milliseconds since 1970.
                CREATE TABLE serverAnswer (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    at INTEGER NOT NULL
                ) STRICT;

                -- The last attempts; times in corrected milliseconds since 1970.
                CREATE TABLE attempt (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    token BLOB NOT NULL,
                    attempt INTEGER NOT NULL,
                    at INTEGER NOT NULL,
                    duration INTEGER NOT NULL,
                    next INTEGER,
                    outcome TEXT NOT NULL,
                    status INTEGER,
                    detail TEXT NOT NULL
                ) STRICT;
                """)
    }
}
