package import CRDT
import GRDB
import Inventory

/// What was last heard of another laptop.
package struct Heard: Hashable, Sendable {
    package let device: DeviceID
    package let name: String
    /// Milliseconds of corrected time.
    package let at: UInt64

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
        // Looked up beforehand: of thousands of jobs few have changed, and nobody's edit has to wait for the others.
        let news = try await read { db in try jobs.flatMap { try Self.news(of: $0, heldBy: heard, in: db) } }
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO laptop (device, name, heard) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET name = excluded.name, heard = max(heard, excluded.heard)
                    """, arguments: [heard.device.description, heard.name, Int64(clamping: heard.at)])
            // A job that was removed meanwhile has another number.
            let insert = try db.cachedStatement(
                sql: """
                    INSERT INTO known (job, device, replica, sequence)
                    SELECT number, ?2, ?3, ?4 FROM job WHERE number = ?1
                    ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)
                    """)
            for (job, position) in news {
                try insert.execute(arguments: [
                    job, heard.device.description, position.replica.value.blob, position.sequence.signed,
                ])
            }
        }
    }

    /// What a laptop holds of a job in which it takes part, as far as that is not noted.
    private static func news(
        of held: (job: JobID, vector: VersionVector), heldBy heard: Heard, in db: Database
    ) throws -> [(job: Int64, position: Position)] {
        guard let number = try JobTable.number(of: held.job, in: db), !(try RemovalTable.isRemoved(number, in: db)),
            try ItemTable.state(of: .job, job: number, in: db)?.names(laptop: heard.name) ?? false
        else { return [] }
        let known = try known(of: heard.device, job: number, in: db)
        return held.vector.entries.filter { $0.head.sequence > known[of: $0.replica] }.map {
            (number, Position(replica: $0.replica, sequence: $0.head.sequence))
        }
    }

    /// Every laptop that was ever met, by its name and device.
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
        try await read { db in
            try Self.known(of: device, job: try JobTable.existingNumber(of: job, in: db), in: db)
        }
    }

    private static func known(of device: DeviceID, job: Int64, in db: Database) throws -> [Position] {
        let statement = try db.cachedStatement(
            sql: "SELECT replica, sequence FROM known WHERE job = ? AND device = ? ORDER BY replica")
        return try Row.fetchAll(statement, arguments: [job, device.description]).map {
            Position(replica: ReplicaID(UInt128(blob: $0["replica"])), sequence: UInt64(bitPattern: $0["sequence"]))
        }
    }

    /// The items that a run of a journal touches, in its order and each once.
    ///
    /// - Returns: the first few with their states, and how many there are in all.
    package func items(
        in replica: ReplicaID, job: JobID, from first: UInt64, to last: UInt64, limit: Int
    ) async throws -> (items: [StoredItem], count: Int) {
        try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            var known: Set<ItemID> = []
            var found: [ItemID] = []
            try Self.forEachChange(job: number, of: replica, in: db) { dotted in
                let item = dotted.change.item
                guard item != .job, dotted.last >= first, dotted.dot.sequence <= last, known.insert(item).inserted,
                    found.count < limit
                else { return }
                found.append(item)
            }
            let items = try found.map {
                StoredItem(id: $0, state: try ItemTable.state(of: $0, job: number, in: db) ?? ItemState())
            }
            return (items, known.count)
        }
    }
}

extension ItemState {
    /// Whether, of the job's own item, somebody on a laptop of that name has written in the job.
    fileprivate func names(laptop name: String) -> Bool {
        fields.contains { field in
            JobProperty.isAuthor(field.name) && field.register.winner?.value.utf8.elementsEqual(name.utf8) ?? false
        }
    }
}
