import CRDT
import FleetTLS
import NIOCore
import NIOSSL
import Synchronization

/// TLS 1.3 (RFC 8446) for links: both sides show certificates, and the device's own rules decide on them.
final class LinkTLS: Sendable {
    /// The protocol's name in the handshake (RFC 7301): what speaks another one is not understood later but refused at once.
    static let application = "muster/1"
    /// The other one that is spoken here: joining, and staying (`muster/enrolment.proto`).
    static let enrolment = "muster-enrolment/1"

    private struct Contexts {
        let credentials: FleetCredentials
        let client: NIOSSLContext
        let server: NIOSSLContext
    }

    private let security: any LinkSecurity
    /// Making them takes longer than a handshake.
    private let contexts = Mutex<Contexts?>(nil)

    init(_ security: any LinkSecurity) {
        self.security = security
    }

    /// Puts encryption in front of what is added to a channel later.
    ///
    /// - Returns: where the peer's name will stand once the handshake is over.
    /// - Throws: `LinkRefusal` while this device has nothing to show; what NIOSSL says of credentials that cannot be used.
    func secure(_ channel: any Channel, isDialled: Bool) throws -> PeerProof {
        let contexts = try currentContexts()
        let proof = PeerProof()
        let verify: NIOSSLCustomVerificationCallback = { [security] certificates, promise in
            promise.completeWithTask {
                let chain = proof.show(certificates)
                let result = await proof.settle { () async throws(LinkRefusal) in try await security.admit(chain) }
                // Who is refused as a peer may still be somebody who wants to be let in.
                guard result == .failed, !isDialled, await security.hears(chain) else { return result }
                return .certificateVerified
            }
        }
        let pipeline = channel.pipeline.syncOperations
        if isDialled {
            try pipeline.addHandler(
                NIOSSLClientHandler(
                    context: contexts.client, serverHostname: nil, customVerificationCallback: verify))
        } else {
            try pipeline.addHandler(
                NIOSSLServerHandler(context: contexts.server, customVerificationCallback: verify))
        }
        return proof
    }

    /// The same for a connection to somebody who may let this device in.
    ///
    /// - Parameters: as for `PeerTransport.enrol`.
    static func secureEnrolment(
        _ channel: any Channel, showing credentials: FleetCredentials,
        accepts: @escaping @Sendable ([[UInt8]]) async -> Bool
    ) throws -> PeerProof {
        let context = try NIOSSLContext(configuration: credentials.client(speaking: [enrolment]))
        let proof = PeerProof()
        let handler = try NIOSSLClientHandler(context: context, serverHostname: nil) { certificates, promise in
            promise.completeWithTask {
                await accepts(proof.show(certificates)) ? .certificateVerified : .failed
            }
        }
        try channel.pipeline.syncOperations.addHandler(handler)
        return proof
    }

    private func currentContexts() throws -> Contexts {
        guard let credentials = security.credentials else {
            throw LinkRefusal("This laptop belongs to no fleet; let it join one first.")
        }
        return try contexts.withLock { known in
            if let known, known.credentials == credentials { return known }
            let fresh = try Contexts(
                credentials: credentials,
                client: NIOSSLContext(configuration: credentials.client(speaking: [Self.application])),
                server: NIOSSLContext(
                    configuration: credentials.server(speaking: [Self.application, Self.enrolment])))
            known = fresh
            return fresh
        }
    }
}

/// What the handshake of one connection has shown of the peer.
///
/// A resumed session would show nothing, and so gets no further: whoever connects is judged anew each time.
final class PeerProof: Sendable {
    private let result = Mutex<Result<DeviceID, LinkRefusal>?>(nil)
    private let shown = Mutex<[[UInt8]]>([])

    /// What the peer has shown, in DER; nothing when some of it cannot be read.
    var chain: [[UInt8]] { shown.withLock { $0 } }

    /// Notes what the peer has shown.
    func show(_ certificates: [NIOSSLCertificate]) -> [[UInt8]] {
        let chain = certificates.chain
        shown.withLock { $0 = chain }
        return chain
    }

    /// Notes what was decided.
    func settle(
        _ decide: () async throws(LinkRefusal) -> DeviceID
    ) async -> NIOSSLVerificationResult {
        do throws(LinkRefusal) {
            let device = try await decide()
            result.withLock { $0 = .success(device) }
            return .certificateVerified
        } catch {
            result.withLock { $0 = .failure(error) }
            return .failed
        }
    }

    /// Nil before it was let in.
    var device: DeviceID? { result.withLock { try? $0?.get() } }

    /// Why it was not let in.
    var refusal: LinkRefusal? {
        result.withLock { if case .failure(let refusal) = $0 { refusal } else { nil } }
    }
}
