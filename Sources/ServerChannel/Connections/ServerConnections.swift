import AsyncHTTPClient
import FleetTLS
import NIOCore
import NIOSSL
import Synchronization

/// The connections to the server: over each of them this laptop has proved who it is, and the server too.
package final class ServerConnections: Sendable {
    /// Why there are none.
    struct NoFleet: Error, CustomStringConvertible {
        let description: String
    }

    /// By what both sides were judged.
    private struct Proofs: Equatable {
        let credentials: FleetCredentials?
        let revocations: String?
    }

    private struct Pool {
        let proofs: Proofs
        let http: HTTPClient
    }

    private enum State {
        case open(Pool?)
        /// For good.
        case closed

        var http: HTTPClient? { if case .open(let pool?) = self { pool.http } else { nil } }
    }

    let address: ServerAddress
    private let security: (any ServerSecurity)?
    private let state = Mutex(State.open(nil))

    /// - Parameter security: nil in tests alone, for a server without encryption.
    package init(to address: ServerAddress, security: (any ServerSecurity)?) {
        self.address = address
        self.security = security
    }

    /// What requests go through now.
    ///
    /// - Throws: `NoFleet` while the laptop belongs to no fleet; `ConnectionEnded` after `close()`; what NIOSSL says of
    ///   credentials that cannot be used.
    func client() throws -> HTTPClient {
        let proofs = Proofs(credentials: security?.credentials, revocations: security?.revocationNumber)
        guard security == nil || proofs.credentials != nil else {
            connectAnew(patience: nil)
            throw NoFleet(description: security?.silence ?? "")
        }
        return try state.withLock { state in
            guard case .open(let pool) = state else { throw ConnectionEnded() }
            if let pool, pool.proofs == proofs { return pool.http }
            let fresh = Pool(proofs: proofs, http: try make(proofs.credentials))
            // The server's key may be one that was revoked, so nothing more goes over the former connections. What is lost by
            // that is asked again.
            if let pool { Self.end(pool.http, after: .zero) }
            state = .open(fresh)
            return fresh.http
        }
    }

    /// From now on requests go through new connections. (Nothing goes through those that began at an address which this
    /// machine has no more, and nobody says so.)
    ///
    /// - Parameter patience: for requests under way; without it they are lost at once.
    func connectAnew(patience: Duration?) {
        let former: HTTPClient? = state.withLock { state in
            guard let http = state.http else { return nil }
            state = .open(nil)
            return http
        }
        if let former { Self.end(former, after: patience ?? .zero) }
    }

    /// Ends all connections for good: requests under way are lost.
    package func close() async {
        let former = state.withLock { state in
            defer { state = .closed }
            return state.http
        }
        try? await former?.shutdown()
    }

    private static func end(_ http: HTTPClient, after patience: Duration) {
        Task {
            try? await Task.sleep(for: patience)
            try? await http.shutdown()
        }
    }

    private func make(_ credentials: FleetCredentials?) throws -> HTTPClient {
        // Who sends us elsewhere is no Muster server.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        // From one question to the next: a new connection would be counted as delay.
        configuration.connectionPool.idleTimeout = .seconds(90)
        configuration.httpVersion = .http1Only
        if let credentials, let security {
            var tls = try credentials.client(speaking: [])
            // That who answers has the key is proved without it; whose key it is `ServerProof` looks at.
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
            let proof = ServerProof(of: address, showing: credentials, security)
            configuration.http1_1ConnectionDebugInitializer = { proof.check($0) }
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
