import FoundationEssentials

/// What a server prolongs a laptop's certificate by; in JSON in base 64 of DER.
package struct CertificateList: Codable, Hashable, Sendable {
    /// The renewal, the server's own certificate and its issuer's.
    package let certificates: [String]

    /// Takes them in DER.
    package init(_ chain: [[UInt8]]) {
        certificates = chain.map { Data($0).base64EncodedString() }
    }

    /// As they were put in.
    ///
    /// - Throws: `MalformedMessage` when one is no base 64.
    package func chain() throws(MalformedMessage) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        for text in certificates {
            guard let bytes = Data(base64Encoded: text) else {
                throw MalformedMessage(sentence: "A certificate is not in base 64.")
            }
            chain.append(Array(bytes))
        }
        return chain
    }
}
