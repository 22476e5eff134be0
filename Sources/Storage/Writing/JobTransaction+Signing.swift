import Authorship
import CRDT
import GRDB
import Synchronization

/// Who has written a journal, and that they have signed it.
extension JobTransaction {
    /// As `Store.seal`.
    func sealOwn(_ head: JournalHead) throws -> JournalSignature? { try store.seal(head, of: id) }

    /// A run that was appended to this store's own journal, as it is passed on.
    func signed(
        _ bytes: [UInt8], after base: JournalHead, _ reached: JournalWriter.Reached
    ) throws -> JournalSegment {
        var segment = JournalSegment(
            replica: own.replica, first: base.sequence + 1, head: reached.head, bytes: bytes,
            signature: reached.signature)
        segment.author = try store.author(of: segment, in: db)
        return segment
    }

    /// Who has written a run. A name that nobody has told of before becomes known with the run.
    ///
    /// - Throws: `JournalWriter.NotTaken`, when it is nobody's.
    func vouch(for segment: JournalSegment) throws -> JournalAuthor {
        let known = try store.author(of: segment, in: db)
        if let known, !known.certificates.isEmpty || segment.author?.certificates.isEmpty ?? true { return known }
        guard let author = segment.author, author.name == segment.authorName, author.replica == segment.replica else {
            throw JournalWriter.NotTaken(
                .forged(
                    segment.replica == .channel
                        ? "Nobody has told which server has signed what was sent as the server's word."
                        : "Nobody has told whose journal \(segment.replica) is."))
        }
        try store.add(author, in: db)
        return author
    }

    /// - Throws: `JournalWriter.NotTaken`, when the author has not signed where the run ends.
    func check(_ run: IncomingRun, of author: JournalAuthor) throws {
        guard run.segment.bytes.count <= JournalSegment.longestBytes else {
            throw JournalWriter.NotTaken(.malformed("A run of \(run.segment.bytes.count) bytes is too long."))
        }
        guard run.isSigned(by: author) else {
            throw JournalWriter.NotTaken(
                .forged(
                    "\(author.isServer ? "Server" : "Laptop") \(author.device.short) has not signed what was sent as its work."
                ))
        }
    }
}

extension Store {
    /// Writes down whose a journal is. Who reads meanwhile reads it as it was, and must not keep that.
    func add(_ author: JournalAuthor, in db: Database) throws {
        try AuthorTable(db: db).add(author)
        forgetAuthors()
    }

    /// What the tables say of them changes with the transaction.
    func forgetAuthors() {
        let forget: @Sendable () -> Void = { [self] in authors.withLock { $0.forget() } }
        forget()
        commits.effects.add(onCommit: forget, onUndo: forget)
    }

    /// Signs where this store's own journal stands.
    ///
    /// - Throws: `StoreError.noKey` before there is one.
    func seal(_ head: JournalHead, of job: JobID) throws -> JournalSignature {
        let signer = authors.withLock { $0.signer }
        guard let signature = signer?.sign(head, of: writingIdentity.replica, job: job) else {
            throw StoreError.noKey
        }
        return signature
    }
}

extension JournalSegment {
    /// What its author has signed, where it ends.
    var seal: (JournalHead) -> JournalSignature? {
        { [head, signature] in $0 == head ? signature : nil }
    }
}
