import GRDB

/// The tables, as named migrations. One that has shipped is never edited; a new one is appended.
struct Schema {
    /// One step from one layout of the tables to the next.
    struct Migration: Sendable {
        /// Stands in the store once it has run.
        let name: String
        let run: @Sendable (Database) throws -> Void
    }

    private let migrations: [Migration]

    /// As this program knows them.
    init(for role: StoreRole) {
        migrations = Self.shared + (role == .channel ? Self.ofChannel : [])
    }

    private init(_ migrations: [Migration]) {
        self.migrations = migrations
    }

    /// As a program knew them for which `name` was the last one.
    func upTo(_ name: String) -> Schema {
        let end = migrations.firstIndex { $0.name == name }.map { $0 + 1 } ?? migrations.endIndex
        return Schema(Array(migrations[..<end]))
    }

    /// All names, the oldest first.
    var names: [String] { migrations.map(\.name) }

    /// What has not run in this store.
    func pending(in db: Database) throws -> [Migration] {
        let applied = try Self.applied(in: db)
        return migrations.filter { !applied.contains($0.name) }
    }

    /// Whether a program has written the store that knows more migrations than this one.
    func isSuperseded(in db: Database) throws -> Bool { !(try Self.applied(in: db)).isSubset(of: names) }

    /// Whether a database has tables, and not those by which any version of Muster knows a store.
    static func isForeign(_ db: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!')"
        guard try Bool.fetchOne(db, sql: sql) ?? false else { return false }
        return try !hasTable("grdb_migrations", with: ["identifier"], in: db)
            || !hasTable("store", with: ["device", "replica", "place"], in: db)
    }

    private static func hasTable(_ name: String, with columns: [String], in db: Database) throws -> Bool {
        try db.tableExists(name) && Set(db.columns(in: name).map(\.name)).isSuperset(of: columns)
    }

    /// The names of those that have run, whoever knows them; none in a new file.
    static func applied(in db: Database) throws -> Set<String> {
        guard try db.tableExists("grdb_migrations") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
    }

    /// Runs one in the open transaction, and notes it where GRDB's own migrator does, as stores have it from the beginning.
    static func run(_ migration: Migration, in db: Database) throws {
        try migration.run(db)
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                """)
        try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [migration.name])
    }

    private static let shared = [
        Migration(name: "signed history 1") { db in
            try createTables(db)
            try addTime(db)
            try RemovalSchema.create(db)
            try RequestSchema.create(db)
            try OutboxSchema.create(db)
            try addAuthors(db)
        },
        Migration(name: "heard 1", run: HeardSchema.create),
        // See OpeningWitness.
        Migration(name: "opening 1") { try $0.execute(sql: "ALTER TABLE store ADD COLUMN opening INTEGER") },
        // Volume and shared barcodes stand with the counters, or NULL: nobody has added them up since. What was a report is
        // the digest alone.
        Migration(name: "totals 1") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN cubicFeet INTEGER;
                    ALTER TABLE job ADD COLUMN duplicates INTEGER;
                    UPDATE job SET reportFingerprint = NULL, report = NULL;
                    ALTER TABLE job RENAME COLUMN reportFingerprint TO digestFingerprint;
                    ALTER TABLE job RENAME COLUMN report TO digest;
                    """)
        },
        Migration(name: "people 1", run: PeopleSchema.create),
        Migration(name: "assignments 1", run: AssignmentSchema.create),
        Migration(name: "cutoffs 1", run: AssignmentSchema.createCutoffs),
        Migration(name: "answers 1", run: AnswerTable.create),
        Migration(name: "former items 1", run: RemovalSchema.createFormerItems),
        Migration(name: "program 1", run: ProgramTable.create),
    ]

    private static let ofChannel = [
        Migration(name: "channel 1", run: ChannelSchema.create),
        Migration(name: "channel 2", run: ChannelSchema.createServer),
        // Certificates have taken the place of tokens.
        Migration(name: "channel 3", run: ChannelSchema.createRevocations),
        Migration(name: "channel 4", run: ChannelSchema.createAssignments),
    ]

    /// Stores of the time when tombstones were forgotten, which cannot be made whole again, of the time when decisions
    /// about late work named places in journals, and of that when nobody signed what they wrote.
    static func isOfFormerDesign(_ db: Database) throws -> Bool {
        guard try db.tableExists("grdb_migrations") else { return false }
        return try Bool.fetchOne(
            db,
            sql:
                "SELECT EXISTS (SELECT 1 FROM grdb_migrations WHERE identifier IN ('1', 'whole history 1', 'whole history 2'))"
        )
            ?? false
    }

    private static func addTime(_ db: Database) throws {
        try db.execute(
            sql: """
                -- From which sequence on this store's own journal was written without a known time and seen by nobody (R5).
                CREATE TABLE unseen (
                    job INTEGER PRIMARY KEY,
                    first INTEGER NOT NULL
                ) STRICT;

                -- One row: what was last known of the time, and the latest time that is certainly past. Microseconds.
                CREATE TABLE clock (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    boot TEXT NOT NULL,
                    offset INTEGER NOT NULL,
                    uncertainty INTEGER NOT NULL,
                    stratum INTEGER NOT NULL,
                    measured INTEGER NOT NULL,
                    source TEXT,
                    wallDrift INTEGER NOT NULL,
                    floor INTEGER NOT NULL,
                    isPlausible INTEGER NOT NULL
                ) STRICT;
                """)
    }

    private static func addAuthors(_ db: Database) throws {
        try db.execute(
            sql: """
                -- Whose journals are held, or were: the key to each name.
                CREATE TABLE author (
                    replica BLOB PRIMARY KEY,
                    key BLOB NOT NULL,
                    nonce BLOB NOT NULL,
                    certificates BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }

    private static func createTables(_ db: Database) throws {
        try db.execute(
            sql: """
                -- One row: who this store is. `place` names the file it was last opened as (rule R9).
                CREATE TABLE store (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    device TEXT NOT NULL,
                    replica TEXT NOT NULL,
                    place TEXT NOT NULL
                ) STRICT;

                -- Counters are kept with the items' changes, so that nobody counts 100,000 rows to show a job.
                -- A report (digest, volume) belongs to the version vector with that fingerprint.
                -- The anchor is the greatest that was seen. A removed job keeps its name here.
                CREATE TABLE job (
                    number INTEGER PRIMARY KEY,
                    id TEXT NOT NULL UNIQUE,
                    items INTEGER NOT NULL DEFAULT 0,
                    removed INTEGER NOT NULL DEFAULT 0,
                    conflicts INTEGER NOT NULL DEFAULT 0,
                    barcodeRun INTEGER NOT NULL DEFAULT 0,
                    barcodeCount INTEGER NOT NULL DEFAULT 0,
                    anchor INTEGER NOT NULL DEFAULT 0,
                    isRemoved INTEGER NOT NULL DEFAULT 0,
                    name TEXT NOT NULL DEFAULT '',
                    reportFingerprint INTEGER,
                    report TEXT
                ) STRICT;

                -- The version vector, with the running digest and the greatest stamp of each journal.
                CREATE TABLE journal (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    digest BLOB NOT NULL,
                    stamp INTEGER NOT NULL,
                    PRIMARY KEY (job, replica)
                ) STRICT, WITHOUT ROWID;

                -- Journals as immutable encoded segments, passed on as they are, each with its author's signature over where it
                -- ends.
                -- A rowid table: large rows would swell the inner pages of a WITHOUT ROWID tree.
                CREATE TABLE segment (
                    job INTEGER NOT NULL,
                    replica BLOB NOT NULL,
                    last INTEGER NOT NULL,
                    first INTEGER NOT NULL,
                    digest BLOB NOT NULL,
                    signature BLOB,
                    bytes BLOB NOT NULL,
                    UNIQUE (job, replica, last)
                ) STRICT;

                -- Items with their registers packed into one blob, in order of time (UUIDv7).
                CREATE TABLE item (
                    job INTEGER NOT NULL,
                    id BLOB NOT NULL,
                    state BLOB NOT NULL,
                    PRIMARY KEY (job, id)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE conflict (
                    job INTEGER NOT NULL,
                    item BLOB NOT NULL,
                    PRIMARY KEY (job, item)
                ) STRICT, WITHOUT ROWID;

                -- Bytes, in runs that are filled one after another (BarcodeTable).
                CREATE TABLE barcode (
                    job INTEGER NOT NULL,
                    run INTEGER NOT NULL,
                    barcode BLOB NOT NULL,
                    item BLOB NOT NULL,
                    PRIMARY KEY (job, run, barcode, item)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
