import CRDT
import GRDB

/// The tables for what is forgotten and what is late: indexes of the journals, all of them.
enum RetiringSchema {
    static func addGone(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Items that folds name: whatever is written on them counts for nothing (rules R2, R10).
                CREATE TABLE gone (
                    job INTEGER NOT NULL,
                    item BLOB NOT NULL,
                    PRIMARY KEY (job, item)
                ) STRICT, WITHOUT ROWID;

                -- A random number that changes with the job's statements; 0 while there are none.
                ALTER TABLE job ADD COLUMN statementMark INTEGER NOT NULL DEFAULT 0;

                UPDATE job SET statementMark = random();
                """)
    }

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- What the journals say about the job as a whole; `isCut` where that can make work late (rule R10).
                CREATE TABLE statement (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    isCut INTEGER NOT NULL,
                    record BLOB NOT NULL,
                    PRIMARY KEY (job, replica, sequence)
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX statementCut ON statement (job) WHERE isCut;

                -- What a fold names of one journal; pending until this store holds that and has folded it.
                CREATE TABLE folding (
                    job INTEGER NOT NULL,
                    author BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    record BLOB NOT NULL,
                    isPending INTEGER NOT NULL,
                    UNIQUE (job, author, sequence, replica)
                ) STRICT;

                CREATE INDEX foldingPending ON folding (job) WHERE isPending;

                -- Stubs that came before the fold that explains them.
                CREATE TABLE unexplained (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    first INTEGER NOT NULL,
                    last INTEGER NOT NULL,
                    PRIMARY KEY (job, replica, first)
                ) STRICT, WITHOUT ROWID;

                -- Removals that are in the items and not folded yet.
                CREATE TABLE tombstone (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    item BLOB NOT NULL,
                    PRIMARY KEY (job, replica, sequence)
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX tombstoneItem ON tombstone (job, item);
                """)
        for job in try Int64.fetchAll(db, sql: "SELECT number FROM job") {
            let held = try HeldTable.dots(job: job, in: db)
            try SegmentReader.forEach(job: job, in: db) { scanned, _, dot in
                guard scanned.isRemoval, scanned.item != .job, !held.contains(dot) else { return }
                try TombstoneTable.add(scanned.item, at: dot, job: job, in: db)
            }
        }
    }
}
