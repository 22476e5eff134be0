package import HTTPCoding

/// `POST /v1/jobs/{job}/signature`.
package struct SignOffRequest: Codable, Hashable, Sendable, ClosedBody {
    /// Of who signs, 1 to 1,024 bytes.
    package var name: String
    /// What stood on the summary that was shown: refused with 422 if the inventory has changed since. Absent for the
    /// inventory as it is when the request comes.
    package var digest: String?

    /// What it may have.
    package enum CodingKeys: String, CodingKey, CaseIterable { case name, digest }

    /// The job has to be shown as `awaitingSignature`, or with this very signature; else 422.
    package init(name: String, digest: String? = nil) {
        self.name = name
        self.digest = digest
    }
}

/// A signature that waits for the server, durably.
package struct QueuedSignature: Codable, Hashable, Sendable {
    /// The one token of the mutation, 32 hexadecimal digits.
    package var tokens: [String]
    /// SHA-256 of the canonical export that is signed for, 64 hexadecimal digits.
    package var digest: String

    /// `digest` is that of the inventory here, also where the request named none.
    package init(tokens: [String], digest: String) {
        self.tokens = tokens
        self.digest = digest
    }
}

/// Who has signed for which inventory.
package struct Signature: Codable, Hashable, Sendable {
    /// Of who has signed, 1 to 1,024 bytes.
    package var name: String
    /// Of the inventory that was signed for.
    package var digest: String
    /// Of what the server held when the signature came; null until then, and where it held nothing.
    @Nullable package var serverDigest: String?
    /// Whether it has still to reach the server.
    package var isPending: Bool

    /// A pending signature has no `serverDigest` yet.
    package init(name: String, digest: String, serverDigest: String? = nil, isPending: Bool) {
        self.name = name
        self.digest = digest
        self.serverDigest = serverDigest
        self.isPending = isPending
    }
}
