/// Who asks for a mutation, and their signature: it goes wherever the request goes, so whoever delivers it cannot change it.
///
/// Key and nonce make the name of the author's journals, as in `JournalAuthor`. What is written again under another name (rule
/// R9) keeps both.
package struct RequestSignature: Hashable, Sendable {
    /// The public half of an Ed25519 key: 32 bytes.
    package let key: [UInt8]
    /// That of the author's name when it asked.
    package let nonce: UInt128
    /// Of the key over all that is asked for (RFC 8032): 64 bytes, all zero before it was signed.
    package var value = [UInt8](repeating: 0, count: valueBytes)

    /// Of somebody who has not signed yet; nil when the key has another length.
    package init?(key: [UInt8], nonce: UInt128) {
        guard key.count == Self.keyBytes else { return nil }
        self.init(checkedKey: key, nonce)
    }

    /// Nil when key or signature have another length.
    package init?(key: [UInt8], nonce: UInt128, value: [UInt8]) {
        guard value.count == Self.valueBytes else { return nil }
        self.init(key: key, nonce: nonce)
        self.value = value
    }

    private init(checkedKey key: [UInt8], _ nonce: UInt128) {
        self.key = key
        self.nonce = nonce
    }

    /// Nobody's, which does not hold.
    package static let none = RequestSignature(checkedKey: Array(repeating: 0, count: keyBytes), 0)

    /// Of a key.
    package static let keyBytes = 32
    /// Of a signature.
    package static let valueBytes = 64
}
