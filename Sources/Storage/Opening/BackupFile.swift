package import Authorship
package import CRDT
import Dispatch
import GRDB
import Synchronization

/// A file that is said to be the backup of a laptop's store: whose it is, once it was found to be one.
package struct BackupFile: Hashable, Sendable {
    /// The laptop's id.
    package let device: DeviceID
    /// Whom the name stands for under which the store wrote; nil where it had none yet.
    package let author: JournalAuthor?
    /// The latest stamp in it, in corrected milliseconds since 1970; nil where nothing was written.
    package let latestMilliseconds: UInt64?

    /// Looks at a file through a connection that cannot write.
    ///
    /// - Throws: `StoreError`, with a sentence about the backup.
    init(at path: String) throws(StoreError) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.prepareDatabase { db in
                // It may come from anybody: nothing that stands in it is carried out.
                try db.execute(sql: "PRAGMA trusted_schema = OFF")
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            self = try queue.read { try Self.init($0, at: path) }
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CANTOPEN].contains(error.resultCode) {
            throw .noBackup
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            throw .damagedBackup("\(error)")
        } catch {
            throw StoreError(error)
        }
    }

    /// Looks at it without holding a thread of the tasks': a long one takes seconds.
    package static func checked(at path: String) async throws -> BackupFile {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                continuation.resume(with: Result { try BackupFile(at: path) })
            }
        }
    }

    private init(_ db: Database, at path: String) throws {
        guard try db.isWhole(at: path) else { throw StoreError.damagedBackup("it is cut off") }
        // Without its indexes rows would be passed over that are there.
        let fault = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
        guard fault == "ok" else { throw StoreError.damagedBackup(fault ?? "") }
        let isStranger =
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view'))") ?? true
        guard !isStranger, try db.tableExists("store"), try db.tableExists("grdb_migrations") else {
            throw StoreError.noBackup
        }
        guard let row = try Row.fetchOne(db, sql: "SELECT device, replica FROM store"),
            let device = (row["device"] as String?).flatMap({ DeviceID($0) }),
            let replica = (row["replica"] as String?).flatMap({ ReplicaID($0) })
        else { throw StoreError.noBackup }
        guard replica != .channel else {
            throw StoreError(
                .otherRole,
                "The file is a server's store; put it back with muster-channel, and give a laptop's backup here."
            )
        }
        guard try !Schema.isOfFormerDesign(db) else {
            throw StoreError(
                .olderThanProgram,
                "The backup is of an early version of Muster that did not sign what people wrote; export its jobs with that version."
            )
        }
        guard try !Schema(for: .laptop).isSuperseded(in: db) else {
            let version = try ProgramTable.entry(in: db).map { "Muster \($0.version)" } ?? "a newer version of Muster"
            throw StoreError(
                .newerThanProgram, "The backup was written by \(version); install that version first.")
        }
        guard try Self.tables(in: db).isSuperset(of: try Self.tables(for: Schema.applied(in: db))) else {
            throw StoreError.damagedBackup("its tables are not those of a store")
        }
        if let fault = try TableAgreement.fault(in: db) { throw StoreError.damagedBackup(fault) }
        // They are read as soon as it is opened.
        _ = try RosterWords(in: db)
        self.device = device
        author = try AuthorTable(db: db).author(named: replica)
        let latest = try Store.greatestStamp(in: db)
        latestMilliseconds = latest == .zero ? nil : latest.milliseconds
    }
}

extension BackupFile {
    /// A column as a program makes it. Where all of them are, `integrity_check` has looked at their types, too: tables are strict.
    private struct Column: Hashable {
        let table: String
        let isStrict: Bool
        let name: String
        let type: String
        let isRequired: Bool
    }

    private static func tables(in db: Database) throws -> Set<Column> {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT list.name, list.strict, info.name, info.type, info."notnull" OR info.pk
                FROM pragma_table_list list JOIN pragma_table_info(list.name) info
                WHERE list.schema = 'main' AND list.type = 'table'
                """)
        return Set(
            rows.map { Column(table: $0[0], isStrict: $0[1], name: $0[2], type: $0[3], isRequired: $0[4]) })
    }

    /// What these migrations make.
    private static func tables(for migrations: Set<String>) throws -> Set<Column> {
        try DatabaseQueue().write { db in
            for migration in try Schema(for: .laptop).pending(in: db) where migrations.contains(migration.name) {
                try Schema.run(migration, in: db)
            }
            return try tables(in: db).filter { $0.table != "sqlite_schema" && $0.table != "grdb_migrations" }
        }
    }
}

extension Store {
    /// Opens a copy of a backup as a store of its own, which writes in this laptop's name if it has to: a restored store is a new
    /// replica (rule R9).
    ///
    /// - Parameters:
    ///   - path: of a file that `BackupFile` has looked at. It is brought up to date.
    ///   - program: the version of the program that opens it.
    package static func openBackup(
        at path: String, program: String, hostName: String, signer: any JournalSigner,
        using generator: inout some RandomNumberGenerator
    ) async throws -> Store {
        // No machine is called so: it is a copy wherever it lies.
        let store = try Store.open(
            path: path, machine: "backup", hostName: hostName, upgrade: StoreUpgrade(ofCopyBy: program),
            generator: &generator)
        try await store.takeUp(signer, using: &generator)
        return store
    }

    /// Writes one state of this store into a new file while others read and write.
    ///
    /// - Throws: `BackupFailure`; `StoreError`.
    package func backUp(to copy: String) async throws {
        guard let pool = database as? DatabasePool else { throw BackupFailure.noStore }
        let path = pool.path
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // Copying a long store takes seconds, for which no thread of the tasks' may be held.
            DispatchQueue.global(qos: .utility).async {
                continuation.resume(with: Result { try Self.backUp(from: path, to: copy) })
            }
        }
    }

    /// How long the store's file and its log are; nil in memory.
    package var fileBytes: Int? {
        guard let pool = database as? DatabasePool else { return nil }
        return [pool.path, Disk.target(of: pool.path) + "-wal"].reduce(0) { $0 + (Disk.length(of: $1) ?? 0) }
    }

    /// What is kept here of the fleet that another store follows.
    package func assignments(ofFleetOf other: Store) async throws -> [Assignment] {
        try await assignments(of: other.fleet.withLock { $0 })
    }
}

extension StoreError {
    /// The file that was given is to blame, and not the store.
    package var isOfBackup: Bool { [.damaged, .otherRole, .olderThanProgram, .newerThanProgram].contains(code) }

    fileprivate static var noBackup: StoreError {
        StoreError(.damaged, "The file is no backup of Muster; give one that 'muster backup FILE' has written.")
    }

    fileprivate static func damagedBackup(_ cause: String) -> StoreError {
        StoreError(.damaged, "The backup is damaged; give another one.", cause: cause)
    }
}
