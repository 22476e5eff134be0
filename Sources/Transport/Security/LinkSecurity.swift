package import CRDT
package import FleetTLS

/// Who this device is on a connection, and whom it lets in. There is no connection without.
package protocol LinkSecurity: Sendable {
    /// What this device shows; nil while it belongs to no fleet: then it takes no connection and makes none.
    var credentials: FleetCredentials? { get }

    /// Decides on a peer, which has proved that it has the key of the first certificate.
    ///
    /// - Parameter chain: in DER, as the peer sent it.
    /// - Returns: the peer's name, which follows from its key.
    func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID

    /// Whether this device speaks, about certificates and nothing else, with somebody whom it does not admit.
    ///
    /// - Parameter chain: as for `admit`.
    func hears(_ chain: [[UInt8]]) async -> Bool
}

extension LinkSecurity {
    /// By default with nobody.
    package func hears(_ chain: [[UInt8]]) async -> Bool { false }
}

/// Why a peer is not let in: a sentence for logs and for people.
package struct LinkRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The whole sentence.
    package let description: String

    /// Takes the whole sentence.
    package init(_ description: String) {
        self.description = description
    }
}
