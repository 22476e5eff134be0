import Authorship
import CRDT
package import CoreMetrics
import GRDB

#if canImport(Glibc)
    import Glibc
#endif

extension Store {
    /// Opens the store at `path`, or makes it.
    ///
    /// A store that was copied, put back or moved to another machine becomes a new replica before anything is written
    /// (rule R9).
    /// - Parameters:
    ///   - upgrade: what the program wants of the tables, and whom it tells while an older store is brought up to that.
    ///   - metrics: where commits are counted.
    /// - Throws: `StoreError`; a store of a newer or a former program, or of the other role, is left as it is.
    package static func open(
        path: String, machine: String, hostName: String, role: StoreRole = .laptop, upgrade: StoreUpgrade,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance, generator: inout some RandomNumberGenerator
    ) throws(StoreError) -> Store {
        do {
            try StorePresence(ofStoreAt: path).check()
            try refuseForeign(path: path, role: role, upgrade)
            makeReadableToOwnerOnly(path)
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                // GRDB chooses NORMAL for WAL, which loses the last commits at a power cut.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA cache_size = -8000")
                try db.execute(sql: "PRAGMA journal_size_limit = \(64 << 20)")
            }
            let file = try fileNumber(of: path)
            let store = try open(
                pool, place: StorePlace(machine: machine, file: file), hostName: hostName, role: role,
                upgrade: upgrade, path: path, witness: role == .laptop ? OpeningWitness(ofStoreAt: path) : nil,
                isInPlace: { (try? fileNumber(of: path)) == file }, metrics: metrics, generator: &generator)
            // Not sooner: a migration sorts whole tables, and makes the log long within one commit.
            try pool.writeWithoutTransaction { db in
                // The pages that a savepoint may have to put back, where writes share a commit; else they go into a file.
                // SQLite's own bound for them (SQLITE_CONFIG_STMTJRNL_SPILL) does not hold beyond 128 KiB: 3.40 then says
                // that the disk is full, since it writes no more at once.
                try db.execute(sql: "PRAGMA temp_store = MEMORY")
                store.commits.log.watch(db)
            }
            return store
        } catch {
            throw StoreError(error)
        }
    }

    /// Brings the tables up to date and settles who this store is.
    static func open(
        _ database: any DatabaseWriter, place: StorePlace, hostName: String, role: StoreRole = .laptop,
        upgrade: StoreUpgrade, path: String? = nil, witness: OpeningWitness? = nil, signer: (any JournalSigner)? = nil,
        isInPlace: @escaping @Sendable () -> Bool = { true },
        metrics: any MetricsFactory = NOOPMetricsHandler.instance, generator: inout some RandomNumberGenerator
    ) throws -> Store {
        try upgrade.run(on: database, role: role, path: path)
        let settled = try settleIdentity(in: database, place: place, role: role, witness, using: &generator)
        let nonce = UInt128.random(in: 0...UInt128.max, using: &generator)
        let identity = try signer.map { signer in
            try database.write { try bind(settled.identity, to: signer, nonce, in: $0) }
        }
        if let witness { noteOpening(in: database, witness, Int64.random(in: 1 ... .max, using: &generator)) }
        let latest = try database.read { try greatestStamp(in: $0) }
        return Store(
            database: database, identity: identity ?? settled.identity, clock: HybridLogicalClock(latest: latest),
            hostName: hostName, wasCopied: settled.wasCopied,
            opening: role == .channel ? generator.next() : 0, witness: witness, signer: signer,
            isInPlace: isInPlace, metrics: metrics)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        // Closed, the first reader after a quiet time would wait for a new connection.
        configuration.persistentReadOnlyConnections = true
        configuration.label = "store"
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { db in
            // A new file gives free pages back (`Store.returnFreePages`); for an older one it would have to be written anew.
            if !db.configuration.readonly, try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 {
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
            // Takes effect when the file is made. Pages of 8 KiB would load a few percent faster and make each edit write twice
            // as much (see Benchmarks/README.md).
            try db.execute(sql: "PRAGMA page_size = 4096")
        }
        return configuration
    }

    /// Makes the file if it is missing; SQLite gives the files beside it the same mode. What SQLite made by itself would be
    /// everybody's to read.
    private static func makeReadableToOwnerOnly(_ path: String) {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // Whatever is wrong, SQLite will find it, too.
        if file >= 0 { Glibc.close(file) }
    }

    /// Looks whether a program could open a file as a store of this role, as far as can be known without changing it; SQLite may put an
    /// empty log beside it.
    ///
    /// - Throws: `StoreError`.
    package static func check(path: String, role: StoreRole, program: String) throws(StoreError) {
        do {
            try StorePresence(ofStoreAt: path).check()
            try refuseForeign(path: path, role: role, StoreUpgrade(program: program))
        } catch {
            throw StoreError(error)
        }
    }

    /// Looks at the file through a connection that cannot write.
    private static func refuseForeign(path: String, role: StoreRole, _ upgrade: StoreUpgrade) throws {
        guard access(path, F_OK) == 0 else { return }
        var configuration = Configuration()
        configuration.readonly = true
        // Who has it open may be about to close it.
        configuration.busyMode = .timeout(2)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        guard try !queue.read(Schema.isForeign) else { throw StoreError.foreign(path) }
        try refuseOtherRole(role, in: queue)
        if try queue.read(Schema.isOfFormerDesign) {
            throw StoreError(
                .olderThanProgram,
                "The store was written by an early version of Muster that did not sign what people wrote; export its jobs "
                    + "with that version, move the state directory aside and start again. The store was not touched.")
        }
        let schema = upgrade.schema ?? Schema(for: role)
        if try queue.read(schema.isSuperseded) {
            throw newer(try queue.read(ProgramTable.entry), path: path, role: role, than: upgrade.program)
        }
    }

    /// - Parameter entry: nil for a store that does not say what has written it.
    private static func newer(
        _ entry: ProgramTable.Entry?, path: String, role: StoreRole, than program: String
    ) -> StoreError {
        let version = entry.map { "Muster \($0.version)" } ?? "a newer version of Muster that it does not name"
        let snapshot = entry.map { StoreSnapshot(ofStoreAt: path, before: $0.version) }.flatMap { $0.exists ? $0 : nil }
        let remedy =
            switch (snapshot, role) {
            case (nil, _): "install that version again"
            case (_?, .laptop):
                "install that version again, or go back to the store of before its upgrade with 'muster store rollback'"
            case (let snapshot?, .channel):
                "install that version again, or put the copy of before its upgrade, \(snapshot.path), back as 'muster-channel backup --help' tells"
            }
        return StoreError(
            .newerThanProgram,
            "The store was upgraded by \(version), and this is \(program), which cannot read it; \(remedy). The store was not touched."
        )
    }

    /// A laptop's store never becomes the server's, nor the other way round.
    private static func refuseOtherRole(_ role: StoreRole, in database: any DatabaseReader) throws {
        let replica = try database.read { db in
            try db.tableExists("store") ? try String.fetchOne(db, sql: "SELECT replica FROM store") : nil
        }
        guard let replica = replica.flatMap({ ReplicaID($0) }), (replica == .channel) != (role == .channel) else {
            return
        }
        throw StoreError(
            .otherRole,
            role == .channel
                ? "The file is a laptop's store; give muster-channel one of its own with --database."
                : "The file is a server's store; give musterd a state directory of its own.")
    }

    private static func fileNumber(of path: String) throws -> String {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw StoreError(.readOnly, "The store's file cannot be looked at; check the state directory.")
        }
        return String(status.st_ino)
    }

    private static func settleIdentity(
        in database: any DatabaseWriter, place: StorePlace, role: StoreRole,
        _ witness: OpeningWitness?, using generator: inout some RandomNumberGenerator
    ) throws -> (identity: StoreIdentity, wasCopied: Bool) {
        let fresh = StoreIdentity(
            device: DeviceID.random(using: &generator),
            replica: role == .channel ? .channel : ReplicaID.random(using: &generator))
        return try database.write { db in
            guard let row = try Row.fetchOne(db, sql: "SELECT device, replica, place, opening FROM store"),
                let device = DeviceID(row["device"] as String), let replica = ReplicaID(row["replica"] as String)
            else {
                try db.execute(
                    sql: "INSERT INTO store (id, device, replica, place) VALUES (1, ?, ?, ?)",
                    arguments: [fresh.device.description, fresh.replica.description, place.text])
                return (fresh, false)
            }
            let known: String = row["place"]
            let isAsLeft = witness?.knows(row["opening"]) ?? true
            if known == place.text, isAsLeft { return (StoreIdentity(device: device, replica: replica), false) }
            // On another machine the device is another one too; a file put back from a backup is the same laptop.
            let isElsewhere = known.prefix { $0 != " " } != place.machine
            let identity = StoreIdentity(device: isElsewhere ? fresh.device : device, replica: fresh.replica)
            if !isElsewhere { try FormerTable.add(replica, in: db) }
            try db.execute(sql: "DELETE FROM unseen")
            // Who was there when the copy was made need not be here now.
            try db.execute(sql: "DELETE FROM workSession")
            // A rollback may have put cutoffs into it that were said later; by which ones the items were made nobody knows any more.
            for job in try CutoffTable(db: db).jobs() { try JobRows(known: job, in: db)?.recount() }
            try db.execute(
                sql: "UPDATE store SET device = ?, replica = ?, place = ?",
                arguments: [identity.device.description, identity.replica.description, place.text])
            return (identity, true)
        }
    }

    /// Gives the store a new number. Without room for it the old one goes on.
    static func noteOpening(in database: any DatabaseWriter, _ witness: OpeningWitness, _ opening: Int64) {
        do {
            try database.writeWithoutTransaction { db in
                try witness.begin(opening, after: try Int64.fetchOne(db, sql: "SELECT opening FROM store"))
                try db.execute(sql: "UPDATE store SET opening = ?", arguments: [opening])
                try witness.complete(opening)
            }
        } catch {
            // What stands in the file still knows what stands in the store.
        }
    }
}
