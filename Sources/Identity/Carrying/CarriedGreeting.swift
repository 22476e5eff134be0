import CRDT

/// The first piece of a file: who has written it, as they show it to a peer.
package struct CarriedGreeting: Equatable, Sendable {
    /// Of the file's header (`CarriedSealer.signature`).
    package let signature: [UInt8]
    /// Certificates, the writer's first.
    package let chain: [[UInt8]]

    /// - Parameter signature: 64 bytes.
    package init(signature: [UInt8], chain: [[UInt8]]) {
        self.signature = signature
        self.chain = chain
    }

    /// The signature, and each certificate behind its length in two bytes, the most significant first.
    package var bytes: [UInt8] {
        signature + chain.flatMap { withUnsafeBytes(of: UInt16(clamping: $0.count).bigEndian, Array.init) + $0 }
    }

    /// Nil for what is none.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count > 64 else { return nil }
        var rest = bytes[64...]
        var chain: [[UInt8]] = []
        while rest.count >= 2, chain.count < 5 {
            let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            guard length <= JournalAuthor.longestCertificate, rest.count >= 2 + length else { return nil }
            chain.append(Array(rest.dropFirst(2).prefix(length)))
            rest = rest.dropFirst(2 + length)
        }
        guard rest.isEmpty else { return nil }
        self.init(signature: Array(bytes[..<64]), chain: chain)
    }
}
