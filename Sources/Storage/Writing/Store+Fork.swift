package import Authorship
package import CRDT
import GRDB
import Synchronization

/// What became of a forked journal.
package struct AdoptedBranch: Hashable, Sendable {
    /// Where the journal now stands.
    package let head: JournalHead
    /// What was written again; nil when there was nothing.
    package let reissued: Commit?
    /// The branch says that the job has ended, and with it the job has.
    package let ended: RemovalOutcome?
    /// As in `RemovalOutcome`.
    package let order: UInt64
}

extension Store {
    /// Makes this store a new replica; its journals so far become somebody else's (rule R9).
    ///
    /// - Parameter former: the name that is in doubt. A store that has given it up already stays who it is.
    /// - Returns: whether it bore that name.
    @discardableResult
    package func renewReplica(
        _ former: ReplicaID, using generator: inout some RandomNumberGenerator
    ) async throws -> Bool {
        let signer = authors.withLock { $0.signer }
        return try await assume(signer, UInt128.random(in: 0...UInt128.max, using: &generator), insteadOf: former)
    }

    /// As `renewReplica`, and the laptop signs with another key, from which its name follows: another one was found to use it.
    package func renewDevice(
        to signer: any JournalSigner, using generator: inout some RandomNumberGenerator
    ) async throws {
        try await assume(signer, UInt128.random(in: 0...UInt128.max, using: &generator))
    }

    /// From now on this store signs with a key, from which the laptop's name follows. Under the name of another key it does not
    /// write on.
    package func takeUp(
        _ signer: any JournalSigner, using generator: inout some RandomNumberGenerator
    ) async throws {
        let nonce = UInt128.random(in: 0...UInt128.max, using: &generator)
        try await write { [self] db in
            rename(to: try Self.bind(writingIdentity, to: signer, nonce, in: db), signer)
        }
    }

    /// Names a store after a key, in its tables.
    ///
    /// - Parameter nonce: for the new name that it takes unless its present one is that key's.
    static func bind(
        _ known: StoreIdentity, to signer: any JournalSigner, _ nonce: UInt128, in db: Database
    ) throws -> StoreIdentity {
        let table = AuthorTable(db: db)
        let isServer = known.replica == .channel
        let former = isServer ? nil : try table.author(named: known.replica)
        var replica = known.replica
        if former?.key != signer.publicKey {
            guard let author = signer.author(nonce: isServer ? nil : nonce) else { throw StoreError.noKey }
            try table.add(author)
            replica = author.replica
            if former != nil { try leave(known.replica, in: db) }
        }
        try table.keep(certificates: signer.certificates, of: signer.publicKey)
        let identity = StoreIdentity(device: signer.device, replica: replica)
        try keep(identity, in: db)
        return identity
    }

    /// What was written under a name stays as it is: the name is somebody else's from now on.
    private static func leave(_ former: ReplicaID, in db: Database) throws {
        try db.execute(sql: "DELETE FROM unseen")
        try JournalRows.doubtAll(of: former, in: db)
    }

    private static func keep(_ identity: StoreIdentity, in db: Database) throws {
        try db.execute(
            sql: "UPDATE store SET device = ?, replica = ?",
            arguments: [identity.device.description, identity.replica.description])
    }

    /// Writes come one after another: the next one already has the new name, everybody else once it is durable.
    private func rename(to identity: StoreIdentity, _ signer: (any JournalSigner)?) {
        let (former, formerSigner) = (writingIdentity, authors.withLock { $0.signer })
        ownName.withLock { $0.writing = identity }
        authors.withLock { $0.use(signer) }
        commits.effects.add(
            onCommit: { [self] in ownName.withLock { $0.committed = identity } },
            onUndo: { [self] in
                ownName.withLock { $0.writing = former }
                authors.withLock { $0.use(formerSigner) }
            })
    }

    /// Whether a head shows more of this store's own journal than the store holds, or another content: the store was set
    /// back, or its name is used twice (rule R9). A journal that is not its own any more shows nothing of it.
    package func isOwnFuture(_ claimed: VersionVector.Entry, of job: JobID) async throws -> Bool {
        try await read { [self] db in
            guard claimed.replica == identity.replica, claimed.head.sequence > 0 else { return false }
            guard let known = try JobRows(known: job, in: db) else { return true }
            return try !known.journal(of: claimed.replica).passes(claimed.head)
        }
    }

    /// Whether this store's own key has signed where a run ends, under a name that it bears or bore.
    package func hasSigned(_ segment: JournalSegment, of job: JobID) async throws -> Bool {
        guard let signature = segment.signature else { return false }
        return try await read { [self] db in
            try author(of: segment, in: db)?
                .hasSigned(segment.head, job: job, signature, of: segment.replica) ?? false
        }
    }

    @discardableResult
    private func assume(
        _ signer: (any JournalSigner)?, _ nonce: UInt128, insteadOf doubtful: ReplicaID? = nil
    ) async throws -> Bool {
        try await write { [self] db in
            let former = writingIdentity
            guard doubtful == nil || doubtful == former.replica else { return false }
            guard let signer, let author = signer.author(nonce: nonce) else { throw StoreError.noKey }
            try AuthorTable(db: db).add(author)
            try Self.leave(former.replica, in: db)
            let renewed = StoreIdentity(device: signer.device, replica: author.replica)
            // Of two laptops that share a name the other one may have written under it.
            if renewed.device == former.device { try FormerTable.add(former.replica, in: db) }
            try Self.keep(renewed, in: db)
            rename(to: renewed, signer)
            return true
        }
    }

    /// Puts `segment` in the place of what this store holds of a forked journal after `keep`, and re-issues what was
    /// there (`BranchRebase`), so that the outcome is as if the journal had never forked (rule R9).
    ///
    /// A store whose own journal it is becomes a new replica first.
    /// - Throws: `StoreError` or `CodecError`; `StoreError.Code.falseBranch` when it is no branch that its author has signed.
    package func adoptBranch(
        _ segment: JournalSegment, job: JobID, after keep: UInt64, now: ReceiveTime,
        using generator: inout some RandomNumberGenerator
    ) async throws -> AdoptedBranch {
        if segment.replica == identity.replica {
            let shown = VersionVector.Entry(replica: segment.replica, head: segment.head)
            guard try await hasSigned(segment, of: job) else {
                throw StoreError.falseBranch("was not signed by this laptop, whose it is said to be")
            }
            guard try await isOwnFuture(shown, of: job) else { throw StoreError.heldBranch }
            try await renewReplica(segment.replica, using: &generator)
        }
        return try await write(to: job, isLong: true, now: { now }) { transaction in
            try transaction.adopt(segment, after: keep)
        }
    }
}
