import Authorship
package import CRDT
import GRDB
package import Inventory
package import Outbox
import Synchronization

/// Mutations of a job, with the edits that belong to them.
package struct MutationBatch: Sendable {
    /// The job that all of it is about.
    package let job: JobID
    /// Enters the job if it is new here; otherwise an unknown job is an error.
    package var createsJob = false
    /// What is written before the mutations, in this order; one that is refused undoes the whole batch.
    package var edits: [Edit] = []
    /// In their order, each with the chance in its token.
    private(set) var mutations: [(chance: UInt64, mutation: any MutationKind)] = []
    /// Who asks; nil where it is the program itself.
    package var writer: Writer?
    /// The chance in the token by which the job is opened first; nil if it is not.
    private(set) var opening: UInt64?

    /// Begins with nothing in it.
    package init(job: JobID) {
        self.job = job
    }

    /// Adds a mutation behind the others and draws the chance for its token; whether it can succeed, `enqueue` finds out.
    package mutating func add(_ mutation: any MutationKind, using generator: inout some RandomNumberGenerator) {
        mutations.append((generator.next(), mutation))
    }

    /// Opens the job first, by its own name and kind, where nobody has and nobody has asked for that. What an open job is by
    /// itself is then not asked for, and has no request.
    package mutating func openIfNeeded(using generator: inout some RandomNumberGenerator) {
        opening = generator.next()
    }
}

/// A request that its author takes back.
package struct Withdrawal: Hashable, Sendable {
    /// The request; that it is taken back is written whether it is pending or not.
    package let token: MutationToken
    /// The job in whose journals it stands, known here.
    package let job: JobID

    /// Names a request in its job.
    package init(token: MutationToken, job: JobID) {
        self.token = token
        self.job = job
    }
}

/// What was enqueued, durably.
package struct EnqueueResult: Sendable {
    /// Edits and requests as one run of this store's journal.
    package let commit: Commit
    /// The requests, in the order of the batch.
    package let entries: [OutboxEntry]

    init(_ commit: Commit) throws {
        self.commit = commit
        var entries: [OutboxEntry] = []
        var next = commit.segment.first
        for change in try ChangeCodec.decodeAll(commit.segment.bytes) {
            for (operation, sequence) in zip(change.operations, next...) {
                guard case .request(let request) = operation else { continue }
                entries.append(
                    OutboxEntry(
                        request: request, job: commit.job, author: commit.segment.replica, sequence: sequence,
                        created: change.stamp, isOwn: true))
            }
            next += UInt64(change.operations.count)
        }
        self.entries = entries
    }

    /// The mutations' names, in the order of the batch; that of the opening first, where one was needed.
    package var tokens: [MutationToken] { entries.map(\.request.token) }
}

/// A laptop's side of requests (rule R8).
extension Store {
    /// Makes the edits and asks the server for what belongs to them, in one transaction: all of it or nothing.
    ///
    /// - Parameter leftOut: what is pending and known to come to nothing: see `Overlay`.
    /// - Throws: `MutationRefusal` for what the server would refuse as things stand here, the other pending requests carried
    ///   out; `EditRefusal`; `StoreError`.
    package func enqueue(
        _ batch: MutationBatch, leavingOut leftOut: Set<MutationToken> = [], now: @escaping @Sendable () -> ReceiveTime
    ) async throws -> EnqueueResult {
        try await write(to: batch.job, entersJob: batch.createsJob, now: now, by: batch.writer) { transaction in
            // By whoever made the batch.
            transaction.isKnownToOutbox = true
            if try transaction.job.isRemoved() { throw StoreError.removedJob(batch.job) }
            if !batch.edits.isEmpty {
                let result = try transaction.make(batch.edits)
                if let refusal = result.refusals.compactMap({ $0 }).first { throw refusal }
            }
            let operations = try transaction.requests(of: batch, leavingOut: leftOut)
            // A change without anything in it is none.
            if operations.isEmpty, let edited = transaction.said { return try EnqueueResult(edited) }
            let asked = try transaction.say(operations)
            return try EnqueueResult(transaction.said ?? asked)
        }
    }

    /// Says in the own journal that a request is taken back; whoever delivers sees it there.
    package func withdraw(
        _ withdrawal: Withdrawal, now: @escaping @Sendable () -> ReceiveTime, by writer: Writer? = nil
    ) async throws -> Commit {
        try await write(to: withdrawal.job, now: now, by: writer) { try $0.say([.withdraw(withdrawal.token)]) }
    }

    /// What is published of a job with what is asked for, of one state of the store.
    ///
    /// - Parameter leftOut: see `Overlay`.
    package func overlay(of job: JobID, leavingOut leftOut: Set<MutationToken> = []) async throws -> Overlay {
        try await read(of: job) { rows in
            try rows.overlay(pending: try rows.pendingRequests().map(\.request), leavingOut: leftOut)
        }
    }
}

extension JobRows {
    fileprivate func overlay(pending: [MutationRequest], leavingOut leftOut: Set<MutationToken>) throws -> Overlay {
        // None of the pending ones has an outcome.
        Overlay(
            published: JobStanding(values: try published()), outcomes: [], requests: pending, leftOut: leftOut)
    }
}

extension JobTransaction {
    fileprivate func requests(
        of batch: MutationBatch, leavingOut leftOut: Set<MutationToken>
    ) throws -> [CRDT.Operation] {
        let pending = try job.pendingRequests().map(\.request)
        var standing = try job.overlay(pending: pending, leavingOut: leftOut).shown
        var mutations = batch.mutations
        let opening = standing.state == nil ? batch.opening : nil
        if let opening, let job = try Store.job(batch.job, in: db) {
            mutations.insert((opening, OpenJob(name: job.name, kind: job.kind)), at: 0)
        }
        var operations: [CRDT.Operation] = []
        var last: [String: MutationToken] = [:]
        for (chance, mutation) in mutations {
            let effect = try mutation.effect(on: standing)
            if opening != nil, effect.isEmpty { continue }
            standing.publish(effect)
            let lane = type(of: mutation).lane
            let newest = try last[lane] ?? predecessor(in: lane, of: pending)
            let request = try signed(chance) { mutation.request(token: $0, after: newest) }
            operations.append(.request(request))
            last[lane] = request.token
            try OutboxTable.addOwn(request.token, in: db)
        }
        return operations
    }

    /// Signs a request with this store's key, under the name in which it writes.
    private func signed(_ chance: UInt64, _ make: (MutationToken) -> MutationRequest) throws -> MutationRequest {
        let signer = store.authors.withLock { $0.signer }
        guard let signer, let nonce = try store.author(named: own.replica, in: db)?.nonce else {
            throw StoreError.noKey
        }
        return signer.sign(make(MutationToken(ofKey: signer.publicKey, chance: chance)), for: id, nonce: nonce)
    }

    /// What a new request in a lane has to follow: what is asked for here already, by whomever, and in any case the newest
    /// of this store. (Of what several asked for without knowing of each other, one chain has to do.)
    private func predecessor(
        in lane: String, of allPending: [MutationRequest]
    ) throws -> MutationToken? {
        let own = try newestOwn(in: lane)
        let pending = allPending.filter { $0.lane == lane }
        guard let own, pending.contains(where: { $0.token == own }) else { return pending.last?.token ?? own }
        let before = Dictionary(pending.map { ($0.token, $0.after) }, uniquingKeysWith: { first, _ in first })
        func follows(_ token: MutationToken) -> Bool {
            var next: MutationToken? = token
            // A faulty device may have asked for a circle.
            for _ in pending where next != own { next = next.flatMap { before[$0] ?? nil } }
            return next == own
        }
        return pending.last { follows($0.token) }?.token
    }

    /// The newest of this store's requests in a lane, also from before it was renewed.
    private func newestOwn(in lane: String) throws -> MutationToken? {
        let asked = "SELECT * FROM request AS asked WHERE job = ? AND NOT isWithdrawal AND"
        let here = try db.cachedStatement(sql: "\(asked) replica = ? ORDER BY sequence DESC")
        let before = try db.cachedStatement(
            sql: """
                \(asked) EXISTS (SELECT 1 FROM outbox WHERE token = asked.token AND isOwn)
                ORDER BY stamp DESC, sequence DESC
                """)
        let own = [
            try Row.fetchCursor(here, arguments: [job.number, self.own.replica.value.blob]),
            try Row.fetchCursor(before, arguments: [job.number]),
        ]
        for cursor in own {
            while let row = try cursor.next() {
                if let stored = try Store.request(row), stored.request.lane == lane { return stored.request.token }
            }
        }
        return nil
    }
}
