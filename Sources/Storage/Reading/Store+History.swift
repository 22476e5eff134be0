package import CRDT

extension Store {
    /// All journals of a job, from one state of the store.
    ///
    /// - Throws: `StoreError.Code.unknownJob`; and `removedJob` for one whose journals are gone.
    package func historyCursor(of job: JobID) async throws -> HistoryCursor {
        let snapshot = LeasedSnapshot(try snapshot(), lifetime: LeasedSnapshot.lifetime, in: commits.log.leases)
        let replicas = try await snapshot.read { db in
            let rows = try JobRows(of: job, in: db)
            guard try !rows.isRemoved() else {
                throw StoreError(
                    .removedJob, "The job was removed, and with it what its history would show; there is none any more."
                )
            }
            return try rows.vector().entries.map(\.replica)
        }
        return HistoryCursor(store: self, job: job, replicas: replicas, snapshot: snapshot)
    }
}

/// Where a reader of a job's journals stands, in one state of the store.
package actor HistoryCursor {
    private let store: Store
    private let job: JobID
    private let snapshot: LeasedSnapshot
    private var replicas: [ReplicaID]
    private var next: UInt64 = 1

    init(store: Store, job: JobID, replicas: [ReplicaID], snapshot: LeasedSnapshot) {
        self.store = store
        self.job = job
        self.replicas = replicas.reversed()
        self.snapshot = snapshot
    }

    /// The next run, each with its author; nil after the last. Those of a journal follow one another.
    package func run() async throws -> JournalSegment? {
        while let replica = replicas.last {
            let (store, job, start) = (store, job, next)
            let run = try await snapshot.read { db in
                try store.segment(
                    of: replica, from: start, maximumBytes: JournalSegment.usualBytes, in: JobRows(of: job, in: db))
            }
            if let run {
                next = run.head.sequence + 1
                return run
            }
            replicas.removeLast()
            next = 1
        }
        return nil
    }
}
