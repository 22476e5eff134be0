package import CRDT
import Crypto
import GRDB

/// Who writes, and on what terms.
///
/// One word, since it goes through async functions: see ARCHITECTURE.md, "Threads".
package final class Writer: Sendable {
    /// Of the users of this machine; nil when that is not known.
    package let user: UInt32?
    /// What has to stand as the writer has seen it; nil where nothing has.
    package let condition: WriteCondition?
    /// By which the writer asks again for what was written, if it does not hear of it; nil where it will not.
    package let key: RequestKey?

    /// Without terms, unless some are given.
    package init(user: UInt32? = nil, on condition: WriteCondition? = nil, key: RequestKey? = nil) {
        self.user = user
        self.condition = condition
        self.key = key
    }
}

/// What has to stand as somebody has seen it, or nothing is written: looked at in the transaction that writes.
package struct WriteCondition: Hashable, Sendable {
    /// What was seen.
    package enum Subject: Hashable, Sendable {
        /// The job that is written to, with everything in it.
        case job
        /// One of its items. Of one of which nothing is known the condition says nothing.
        case item(ItemID)
    }

    /// What was seen.
    package let subject: Subject
    /// As what it was seen, any of these: `StoredJob.tag`, `ItemState.tag`.
    package let tags: [String]

    /// Takes any tags; one of another kind never fits.
    package init(_ subject: Subject, isOneOf tags: [String]) {
        self.subject = subject
        self.tags = tags
    }
}

extension WriteCondition {
    /// - Throws: `StoreError.Code.changedMeanwhile`.
    func check(_ job: JobRows) throws {
        switch subject {
        case .job:
            guard tags.contains(try job.tag()) else { throw StoreError.changedMeanwhile("The job") }
        case .item(let item):
            guard let state = try job.item(item) else { return }
            guard tags.contains(state.tag) else { throw StoreError.changedMeanwhile("Item \(item)") }
        }
    }
}

extension JobRows {
    /// Another one whenever a change of the job is taken in, or counts otherwise than before.
    func tag() throws -> String {
        let number = (try vector().fingerprint) ^ (try limits().fingerprint)
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ItemState {
    /// Equal for equal states, and for no others (SHA-256, half of it).
    package var tag: String {
        let hash = SHA256.hash(data: ItemStateCodec.encode(self))
        return hash.prefix(16).reduce(into: "") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
