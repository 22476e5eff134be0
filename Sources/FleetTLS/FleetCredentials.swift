import NIOCore
package import NIOSSL

/// What a laptop or a server proves itself with.
package struct FleetCredentials: Hashable, Sendable {
    /// In DER; its own first, then its issuer's.
    package let certificates: [[UInt8]]
    /// PKCS #8 in PEM (RFC 8410).
    private let key: String

    /// Takes an Ed25519 key and the certificates that belong to it.
    package init(certificates: [[UInt8]], key: String) {
        self.certificates = certificates
        self.key = key
    }

    /// TLS 1.3 (RFC 8446) for who connects.
    ///
    /// - Parameter applications: the protocols' names in the handshake (RFC 7301).
    /// - Throws: what NIOSSL says of credentials that cannot be used.
    package func client(speaking applications: [String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        (configuration.certificateChain, configuration.privateKey) = try sources()
        return Self.strict(configuration, applications)
    }

    /// The same for who is connected to.
    package func server(speaking applications: [String]) throws -> TLSConfiguration {
        let (chain, key) = try sources()
        return Self.strict(.makeServerConfiguration(certificateChain: chain, privateKey: key), applications)
    }

    private func sources() throws -> ([NIOSSLCertificateSource], NIOSSLPrivateKeySource) {
        let key = try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
        return (
            try certificates.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) }, .privateKey(key)
        )
    }

    private static func strict(_ base: TLSConfiguration, _ applications: [String]) -> TLSConfiguration {
        var configuration = base
        configuration.minimumTLSVersion = .tlsv13
        // Asks for the other side's certificates; what is then decided on them is the fleet's own rules and nobody else's.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        // BoringSSL offers no Ed25519 unless it is named.
        configuration.signingSignatureAlgorithms = [.ed25519]
        configuration.verifySignatureAlgorithms = [.ed25519]
        configuration.applicationProtocols = applications
        // Who is sent away is not waited for; `Link.close` gives its own time to those who may finish.
        configuration.shutdownTimeout = .zero
        return configuration
    }
}

extension Collection<NIOSSLCertificate> {
    /// In DER; nothing when one of them cannot be read.
    package var chain: [[UInt8]] {
        let read = compactMap { try? $0.toDERBytes() }
        return read.count == count ? read : []
    }
}
