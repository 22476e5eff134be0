import Authorship
package import CRDT
package import Identity

/// A laptop's key that follows from a number, so that a run can be repeated.
package struct TestSigner: JournalSigner {
    /// The whole key.
    package let key: DeviceKey
    /// As `JournalSigner.publicKey`.
    package let publicKey: [UInt8]
    /// What a fleet would say of it; by default nothing.
    package var certificates: [[UInt8]]

    /// The same number gives the same key.
    package init(_ number: UInt64, certificates: [[UInt8]] = []) {
        var generator = SeededGenerator(seed: number)
        var secret = ByteWriter()
        for _ in 0..<4 { secret.write(generator.next()) }
        guard let key = DeviceKey(secret: secret.bytes) else { preconditionFailure("32 bytes are a key") }
        self.init(key: key, certificates: certificates)
    }

    /// Signs with this key.
    package init(key: DeviceKey, certificates: [[UInt8]] = []) {
        self.key = key
        publicKey = key.publicKey.bytes
        self.certificates = certificates
    }

    /// Of somebody who has a name.
    package init(named name: String) {
        self.init(name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
    }

    /// As `JournalSigner.signature`.
    package func signature(over content: [UInt8]) -> [UInt8] { key.signature(over: content) }

    /// A run of changes of an author with this key that follows `base`, signed.
    package func segment(
        _ bytes: [UInt8], after base: JournalHead, of job: JobID, by author: JournalAuthor
    ) throws -> JournalSegment {
        let head = try base.after(bytes)
        return JournalSegment(
            replica: author.replica, first: base.sequence + 1, head: head, bytes: bytes,
            signature: sign(head, of: author.replica, job: job), author: author)
    }
}

/// Writes journals by hand, as a laptop that is not here.
package struct TestAuthor: Sendable {
    private let signer: TestSigner
    /// Whose journals they are.
    package let author: JournalAuthor

    /// The same number gives the same laptop.
    package init(_ number: UInt64, certificates: [[UInt8]] = []) {
        signer = TestSigner(number, certificates: certificates)
        guard let author = signer.author(nonce: UInt128(number)) else { preconditionFailure("a key is one") }
        self.author = author
    }

    /// A server instead, with the key of that number.
    package init(server number: UInt64, certificates: [[UInt8]] = []) {
        signer = TestSigner(number, certificates: certificates)
        guard let author = signer.author(nonce: nil) else { preconditionFailure("a key is one") }
        self.author = author
    }

    /// The name of its journals.
    package var replica: ReplicaID { author.replica }

    /// A run of changes that follows `base`, signed.
    package func segment(_ bytes: [UInt8], after base: JournalHead = .empty, of job: JobID) throws -> JournalSegment {
        try signer.segment(bytes, after: base, of: job, by: author)
    }

    /// The token of its own that has this chance in it.
    package func token(_ chance: UInt64) -> MutationToken { MutationToken(ofKey: author.key, chance: chance) }

    /// Asks for what is described, and signs it, under a token of its own.
    ///
    /// - Parameter request: where its token, or the one that it follows, is not this author's, its lower 48 bits are the chance in
    ///   one that is.
    package func asks(_ request: MutationRequest, for job: JobID) -> MutationRequest {
        let own = MutationRequest(
            token: own(request.token), lane: request.lane, after: request.after.map(own), priority: request.priority,
            kind: request.kind, payload: request.payload)
        return signer.sign(own, for: job, nonce: author.nonce ?? 0)
    }

    private func own(_ token: MutationToken) -> MutationToken {
        token.isOf(key: author.key) ? token : self.token(UInt64(truncatingIfNeeded: token.value))
    }

    /// What it says stands in a run, whether it does or not, signed.
    package func sign(_ segment: JournalSegment, of job: JobID) -> JournalSegment {
        JournalSegment(
            replica: replica, first: segment.first, head: segment.head, bytes: segment.bytes,
            signature: signer.sign(segment.head, of: replica, job: job), author: author)
    }
}

extension JournalDigest: ExpressibleByIntegerLiteral {
    /// Small numbers stand for digests where nobody looks at contents.
    package init(integerLiteral value: UInt64) {
        self.init(UInt128(value))
    }

    /// All bits are set.
    package static let greatest = JournalDigest(high: .max, low: .max)

    /// A small one.
    package init(_ number: some BinaryInteger) {
        self.init(high: 0, low: UInt128(number))
    }
}
