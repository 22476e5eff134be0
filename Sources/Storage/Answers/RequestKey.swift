package import CRDT
import Crypto

/// By which somebody knows a request of theirs again, and what it was. One word, as `Writer` is.
package final class RequestKey: Sendable {
    /// Of this machine, whose key it is; nil where that is not known. What one user names, another does not see.
    package let user: UInt32?
    /// As the caller wrote it.
    package let text: String
    /// SHA-256 of what was asked for: the same key with another request is a mistake of the caller.
    package let request: JournalDigest
    /// When the request came first, in corrected milliseconds since 1970.
    package let began: UInt64

    /// - Parameter request: whatever tells one request from another.
    package convenience init(_ text: String, of user: UInt32?, request: [UInt8], began: UInt64) {
        self.init(text, of: user, digest: Self.digest(of: request), began: began)
    }

    private init(_ text: String, of user: UInt32?, digest: JournalDigest, began: UInt64) {
        self.text = text
        self.user = user
        self.request = digest
        self.began = began
    }

    /// The same request, which came first at another time.
    package func began(at milliseconds: UInt64) -> RequestKey {
        RequestKey(text, of: user, digest: request, began: milliseconds)
    }

    /// From which the ids of what the request makes follow: who carries it out again makes the same ones.
    package var seed: UInt64 {
        let named = Self.digest(of: request.bytes + Array(text.utf8) + Array("\(user.map(Int.init) ?? -1)".utf8))
        return UInt64(truncatingIfNeeded: named.low)
    }

    private static func digest(of bytes: [UInt8]) -> JournalDigest {
        Array(SHA256.hash(data: bytes)).withUnsafeBytes { JournalDigest($0) } ?? .empty
    }
}

/// An answer as it was given.
package struct KeptAnswer: Hashable, Sendable {
    /// Of HTTP.
    package let status: Int
    /// The tag that went with it, if one did.
    package let tag: String?
    /// JSON.
    package let body: [UInt8]

    /// Takes what was answered.
    package init(status: Int, tag: String?, body: [UInt8]) {
        self.status = status
        self.tag = tag
        self.body = body
    }
}

/// What a request has written, read from the journal in which it stands.
package struct WrittenRequest: Hashable, Sendable {
    /// The job that was written to.
    package let job: JobID
    /// In their order, without what says who writes.
    package let changes: [Change]
}

/// What has come of a request that was sent before.
package enum RequestStanding: Hashable, Sendable {
    /// Another request had the same key.
    case another
    case answered(KeptAnswer)
    /// The program ended between what it wrote and its answer.
    case unanswered(began: UInt64, WrittenRequest?)
}
