import CRDT
import Foundation
import GRDB

@testable import Storage

/// Stores as older programs left them: the tables are made by the migrations of that time, and filled with what those tables
/// held of a store that was written now.
enum OlderStore {
    /// - Returns: the export of its job.
    static func make(in place: Place, layout: String, name: String = "a") async throws -> [UInt8] {
        let full = try await place.open("of-\(name)")
        for item in 1...40 as ClosedRange<UInt128> { try await full.put(item, "name", "Sofa \(item)") }
        try await full.put(3, "name", "Bed", now: 2_000)
        let export = try await full.exported()
        try full.close()
        let path = place.path(name)
        let older = try DatabasePool(path: path)
        let schema = Schema(for: .laptop).upTo(layout)
        let (source, number) = (place.path("of-\(name)"), try number(of: path))
        try await older.write { db in
            for migration in try schema.pending(in: db) { try Schema.run(migration, in: db) }
        }
        try await older.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS full", arguments: [source])
            let tables = try String.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table'")
            for table in tables where !["grdb_migrations", "program", "sqlite_sequence"].contains(table) {
                let own = try columns(of: table, in: "main", db)
                let columns = try own.filter(columns(of: table, in: "full", db).contains).joined(separator: ", ")
                try db.execute(sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM full.\(table)")
            }
            try db.execute(sql: "DETACH full")
            let place = StorePlace(machine: "laptop", file: String(number))
            try db.execute(sql: "UPDATE store SET place = ?", arguments: [place.text])
            if tables.contains("program") { try ProgramTable.note(.init(version: "1.0.0", former: nil), in: db) }
        }
        try older.close()
        // It was last opened by that program, with or without the file that tells so.
        try? FileManager.default.moveItem(atPath: place.path("of-\(name)") + "-opened", toPath: path + "-opened")
        if !schema.names.contains("opening 1") { try? FileManager.default.removeItem(atPath: path + "-opened") }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: place.path("of-\(name)") + suffix)
        }
        return export
    }

    private static func columns(of table: String, in schema: String, _ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(table)', '\(schema)')")
    }

    private static func number(of path: String) throws -> UInt {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt ?? 0
    }

    /// What a closed file holds.
    struct Content {
        var applied: Set<String> = []
        var columns: Set<String> = []
        var problems: [String] = []
        var program: ProgramTable.Entry?
        var mode = 0
    }

    static func look(at path: String) throws -> Content {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        var content = try queue.read { db in
            Content(
                applied: try Schema.applied(in: db),
                columns: try String.fetchSet(
                    db,
                    sql: """
                        SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk
                        FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'
                        """),
                problems: try String.fetchAll(db, sql: "PRAGMA integrity_check"),
                program: try ProgramTable.entry(in: db))
        }
        content.mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
        return content
    }

    /// Where a table begins in a closed file.
    static func rootPage(of table: String, in path: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table]) ?? 0
        }
    }

    static func change(_ path: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }
}
