import FoundationEssentials

/// Whom a fleet has shut out, each entry as it is signed; in JSON in base 64.
package struct RevocationList: Codable, Hashable, Sendable {
    /// `ChannelLimits.revocations` at most, ascending by device where they are a page.
    package let revocations: [String]
    /// The device after which the next page begins; nil with the last one, and in what a laptop brings.
    package let next: String?

    /// Takes entries as they are passed on.
    package init(_ entries: some Sequence<[UInt8]>, next: String? = nil) {
        revocations = entries.map { Data($0).base64EncodedString() }
        self.next = next
    }

    /// As they were put in.
    ///
    /// - Throws: `MalformedMessage` when one is no base 64.
    package func entries() throws(MalformedMessage) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        for text in revocations {
            guard let bytes = Data(base64Encoded: text) else {
                throw MalformedMessage(
                    sentence: "A revocation is not in base 64; send what 'muster fleet revoke' has made.")
            }
            entries.append(Array(bytes))
        }
        return entries
    }
}
