package import CRDT
import GRDB
import Inventory

/// What was last heard of another laptop.
package struct Heard: Hashable, Sendable {
    /// Who it is; a laptop that was renamed is listed once for each name.
    package let device: DeviceID
    /// The host's name, as its hello told it.
    package let name: String
    /// Milliseconds of corrected time.
    package let at: UInt64

    /// Takes the time in milliseconds since 1970.
    package init(device: DeviceID, name: String, at: UInt64) {
        self.device = device
        self.name = name
        self.at = at
    }
}

extension Store {
    /// Remembers that a laptop was heard of just now, and how far it then held what jobs it takes part in. Of other jobs
    /// nothing is kept: each laptop holds every job of the fleet.
    package func note(_ heard: Heard, holding jobs: [(job: JobID, vector: VersionVector)]) async throws {
        // Looked up beforehand and bit by bit: of thousands of jobs few have changed, and nobody has to wait for the others.
        var news: [News] = []
        for start in stride(from: 0, to: jobs.count, by: Self.jobsPerRead) {
            let some = jobs[start..<min(start + Self.jobsPerRead, jobs.count)]
            news += try await read { db in
                let names = Set(try Self.names(of: heard.device, in: db) + [Array(heard.name.utf8)])
                return try some.compactMap { try Self.news(of: $0, heldBy: heard.device, called: names, in: db) }
            }
        }
        let changed = news
        try await write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO laptop (device, name, heard) VALUES (?, ?, ?)",
                arguments: [heard.device.description, heard.name, Int64(clamping: heard.at)])
            // A job that was removed meanwhile has another number.
            let insert = try db.cachedStatement(
                sql: """
                    INSERT INTO known (job, device, replica, sequence)
                    SELECT number, ?2, ?3, ?4 FROM job WHERE number = ?1
                    """)
            for one in changed {
                try db.execute(
                    sql: "DELETE FROM known WHERE job = ? AND device = ?",
                    arguments: [one.job, heard.device.description])
                for position in one.held {
                    try insert.execute(arguments: [
                        one.job, heard.device.description, position.replica.value.blob, position.sequence.signed,
                    ])
                }
            }
        }
    }

    private static let jobsPerRead = 256

    /// What a laptop holds of a job, and not what is noted.
    private struct News: Sendable {
        let job: Int64
        let held: [Position]
    }

    /// - Returns: nil where it does not take part, or nothing has changed.
    private static func news(
        of held: (job: JobID, vector: VersionVector), heldBy device: DeviceID, called names: Set<[UInt8]>,
        in db: Database
    ) throws -> News? {
        guard let job = try JobRows(known: held.job, in: db), try !job.isRemoved(),
            try job.item(.job)?.hasAuthor(called: names) ?? false
        else { return nil }
        let positions = held.vector.entries.map { Position(replica: $0.replica, sequence: $0.head.sequence) }
        return try job.known(of: device) == positions ? nil : News(job: job.number, held: positions)
    }

    /// What a laptop was ever called.
    private static func names(of device: DeviceID, in db: Database) throws -> [[UInt8]] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT name FROM laptop WHERE device = ?"), arguments: [device.description]
        ).map { Array($0.utf8) }
    }

    /// The names that this laptop's store had before.
    package func formerReplicas() async throws -> Set<ReplicaID> {
        try await read { db in try FormerTable.all(in: db) }
    }

    /// Every laptop that was ever met, by its names and device.
    package func heard() async throws -> [Heard] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT device, name, heard FROM laptop ORDER BY name, device").compactMap {
                row in
                DeviceID(row["device"] as String).map {
                    Heard(device: $0, name: row["name"], at: UInt64(clamping: row["heard"] as Int64))
                }
            }
        }
    }

    /// How far a laptop was last known to hold the journals of a job, ascending by replica; empty when nothing is known.
    package func lastKnown(of device: DeviceID, job: JobID) async throws -> [Position] {
        try await read(of: job) { try $0.known(of: device) }
    }

    /// The items that a run of a journal touches, in its order and each once.
    ///
    /// - Returns: the first few with their states, and how many there are in all.
    package func items(
        in replica: ReplicaID, job: JobID, from first: UInt64, to last: UInt64, limit: Int
    ) async throws -> (items: [StoredItem], count: Int) {
        try await read(of: job) { rows in
            var known: Set<ItemID> = []
            var found: [ItemID] = []
            try rows.forEachChange(of: replica, sequences: first...max(first, last)) { dotted in
                let item = dotted.change.item
                guard item != .job, dotted.last >= first, dotted.dot.sequence <= last, known.insert(item).inserted,
                    found.count < limit
                else { return }
                found.append(item)
            }
            let items = try found.map { StoredItem(id: $0, state: try rows.item($0) ?? ItemState()) }
            return (items, known.count)
        }
    }
}

extension JobRows {
    fileprivate func known(of device: DeviceID) throws -> [Position] {
        let statement = try db.cachedStatement(
            sql: "SELECT replica, sequence FROM known WHERE job = ? AND device = ? ORDER BY replica")
        return try Row.fetchAll(statement, arguments: [number, device.description]).map {
            Position(replica: ReplicaID(UInt128(blob: $0["replica"])), sequence: UInt64(bitPattern: $0["sequence"]))
        }
    }
}

extension ItemState {
    /// Whether, of the job's own item, somebody on a laptop of such a name has written in the job.
    fileprivate func hasAuthor(called names: Set<[UInt8]>) -> Bool {
        fields.contains { field in
            JobProperty.isAuthor(field.name)
                && field.register.winner.map { names.contains(Array($0.value.utf8)) } ?? false
        }
    }
}
