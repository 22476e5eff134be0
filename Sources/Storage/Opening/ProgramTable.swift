import GRDB

/// Which program the tables are of. Programs of any later version keep this table as it is: an older one reads it to say what
/// it has in front of it.
enum ProgramTable {
    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                -- One row: the version that ran the last migrations, and the one before it: empty where that did not say so,
                -- NULL where there was none.
                CREATE TABLE program (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    version TEXT NOT NULL,
                    former TEXT
                ) STRICT;
                """)
    }

    /// Who last ran migrations in a store, and who had before.
    struct Entry: Hashable {
        let version: String
        let former: String?
    }

    /// Nil for a store of a program that did not say so. What cannot be part of a file's name, or of a line for people, is no version.
    static func entry(in db: Database) throws -> Entry? {
        guard try db.tableExists("program"), let row = try Row.fetchOne(db, sql: "SELECT version, former FROM program")
        else { return nil }
        guard let version = row["version"] as String?, isVersion(version) else { return nil }
        let former = row["former"] as String?
        return Entry(version: version, former: former.map { isVersion($0) ? $0 : "" })
    }

    private static func isVersion(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
    }

    /// Notes both in the transaction of the migrations; a layout that does not have the table yet says nothing.
    static func note(_ entry: Entry, in db: Database) throws {
        guard try db.tableExists("program") else { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO program (id, version, former) VALUES (1, ?, ?)",
            arguments: [entry.version, entry.former])
    }
}
