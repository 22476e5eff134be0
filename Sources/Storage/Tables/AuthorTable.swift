import Authorship
package import CRDT
import Foundation
import GRDB
import Synchronization

/// Whose journals this store has heard of: each name with its key (`JournalAuthor.name`).
struct AuthorTable {
    let db: Database

    func author(named name: ReplicaID) throws -> JournalAuthor? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT key, nonce, certificates FROM author WHERE replica = ?"),
            arguments: [name.value.blob])
        return row.flatMap { row in
            let nonce: Data = row["nonce"]
            return JournalAuthor(
                key: [UInt8](row["key"] as Data), nonce: nonce.isEmpty ? nil : UInt128(blob: nonce),
                certificates: Self.certificates(in: row["certificates"]))
        }
    }

    /// Those of laptops with certificates, each key once.
    func certified() throws -> [JournalAuthor] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT key, nonce, certificates FROM author
                WHERE length(nonce) > 0 AND length(certificates) > 0 GROUP BY key ORDER BY key
                """)
        return rows.compactMap { row in
            JournalAuthor(
                key: [UInt8](row["key"] as Data), nonce: UInt128(blob: row["nonce"] as Data),
                certificates: Self.certificates(in: row["certificates"]))
        }
    }

    /// One that is known keeps what is known of it, but for certificates that it had not.
    func add(_ author: JournalAuthor) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO author (replica, key, nonce, certificates) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET certificates = excluded.certificates WHERE length(certificates) = 0
                """
        ).execute(arguments: [
            author.name.value.blob, Data(author.key), author.nonce?.blob ?? Data(), Self.blob(of: author.certificates),
        ])
    }

    /// Of all names of a key. A laptop that takes another key can still show them for what it wrote.
    func keep(certificates: [[UInt8]], of key: [UInt8]) throws {
        guard !certificates.isEmpty else { return }
        try db.execute(
            sql: "UPDATE author SET certificates = ? WHERE key = ?",
            arguments: [Self.blob(of: certificates), Data(key)])
    }

    /// Each with its length before it.
    static func blob(of certificates: [[UInt8]]) -> Data {
        var bytes = ByteWriter()
        for certificate in certificates {
            bytes.write(varint: UInt64(certificate.count))
            bytes.append(certificate)
        }
        return Data(bytes.bytes)
    }

    static func certificates(in blob: Data) -> [[UInt8]] {
        blob.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            var certificates: [[UInt8]] = []
            while !reader.isAtEnd, let count = try? reader.readVarint(),
                let range = try? reader.readRange(count: Int(clamping: count))
            {
                certificates.append([UInt8](buffer[range]))
            }
            return certificates
        }
    }
}

/// Who signs what this store writes, and whose signatures it has met lately: most runs are of a few journals.
struct Authors: Sendable {
    private static let most = 512

    /// Nil before `Store.takeUp`.
    private(set) var signer: (any JournalSigner)?
    private var known: [ReplicaID: JournalAuthor] = [:]
    /// How often it has forgotten: what was read from the tables before that may be old.
    private(set) var age = 0

    init(signer: (any JournalSigner)?) { self.signer = signer }

    /// What its laptop has by now of certificates goes with it.
    subscript(name: ReplicaID) -> JournalAuthor? {
        guard var author = known[name] else { return nil }
        if let signer, signer.publicKey == author.key, !signer.certificates.isEmpty {
            author.certificates = signer.certificates
        }
        return author
    }

    /// - Parameter age: what it was when the author was read.
    mutating func note(_ author: JournalAuthor, readAt age: Int) {
        guard age == self.age else { return }
        if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
        known[author.name] = author
    }

    mutating func use(_ signer: (any JournalSigner)?) {
        self.signer = signer
        forget()
    }

    mutating func forget() {
        known.removeAll()
        age += 1
    }
}

extension Store {
    /// The laptops whose journals were heard of, with the certificates that came with those.
    package func certifiedAuthors() async throws -> [JournalAuthor] {
        try await read { try AuthorTable(db: $0).certified() }
    }

    /// Who has written a run; nil for one that nobody has told of, and where a channel names no server.
    func author(of segment: JournalSegment, in db: Database) throws -> JournalAuthor? {
        try segment.authorName.flatMap { try author(named: $0, in: db) }
    }

    /// Whom a name stands for (`JournalAuthor.name`); nil for one that nobody has told of.
    func author(named name: ReplicaID, in db: Database) throws -> JournalAuthor? {
        let (known, age) = authors.withLock { ($0[name], $0.age) }
        if let known { return known }
        guard let author = try AuthorTable(db: db).author(named: name) else { return nil }
        return authors.withLock { authors in
            authors.note(author, readAt: age)
            return authors[name] ?? author
        }
    }

    /// Writes down what the fleet says by now of this store's key: what it has written has to be believed when it has another
    /// one, too.
    package func keepCertificates() async throws {
        guard let signer = authors.withLock({ $0.signer }) else { return }
        try await write { db in
            try AuthorTable(db: db).keep(certificates: signer.certificates, of: signer.publicKey)
        }
        authors.withLock { $0.forget() }
    }

    /// The same of several, without those of which nobody has told.
    package func authors(named names: Set<ReplicaID>) async throws -> [ReplicaID: JournalAuthor] {
        let known = authors.withLock { authors in names.reduce(into: [:]) { $0[$1] = authors[$1] } }
        guard known.count < names.count else { return known }
        return try await read { [self] db in
            try names.reduce(into: [:]) { $0[$1] = try author(named: $1, in: db) }
        }
    }
}

/// What a fleet makes of a run's author.
package enum Vouching: Hashable, Sendable {
    /// Nobody has told who it is.
    case unnamed
    /// It is, or was, of the fleet.
    case vouched(JournalAuthor)
    /// It is nobody of the fleet, as far as was told.
    case unvouched(JournalAuthor)
}

extension Store {
    /// Asks of whom a run is, by what this store has heard and by what comes with the run. Anybody may have told either, so what the
    /// fleet vouches for takes the place of what it does not.
    package func vouching(
        of run: JournalSegment, by vouches: (JournalAuthor) async -> Bool
    ) async throws -> Vouching {
        guard let name = run.authorName else { return .unnamed }
        return try await vouching(of: name, told: run.author, by: vouches)
    }

    /// The same of somebody of whom more was told.
    package func vouching(
        of name: ReplicaID, told: JournalAuthor?, by vouches: (JournalAuthor) async -> Bool
    ) async throws -> Vouching {
        let known = try await authors(named: [name])[name]
        let told = [known, told].compactMap(\.self).filter { $0.name == name }
        for author in told where await vouches(author) {
            if let known, known != author { try await replaceCertificates(of: author) }
            return .vouched(author)
        }
        return (told.first { !$0.certificates.isEmpty } ?? told.first).map { .unvouched($0) } ?? .unnamed
    }

    private func replaceCertificates(of author: JournalAuthor) async throws {
        try await write { [self] db in
            try AuthorTable(db: db).keep(certificates: author.certificates, of: author.key)
            forgetAuthors()
        }
    }
}
