package import FleetTLS

/// Who this laptop is to the server, and whether what answers is the fleet's server; the daemon's identity implements it.
package protocol ServerSecurity: Sendable {
    /// What this laptop shows; nil while it belongs to no fleet: then it asks no server.
    var credentials: FleetCredentials? { get }
    /// Why there are none: words for people, without a capital and a full stop.
    var silence: String { get }

    /// Decides on what answers at the server's address, and has proved that it has the key of the first certificate.
    ///
    /// - Parameter chain: in DER, as it was sent.
    /// - Throws: `NotTheServer` unless it is a server of the fleet, or its proxy.
    func admitServer(_ chain: [[UInt8]]) async throws(NotTheServer)

    /// One number for all revocations that are known: 16 hexadecimal digits.
    var revocationNumber: String { get }
    /// All that are known, as they are passed on.
    var revocationEntries: [[UInt8]] { get }

    /// Takes what the server knows of revocations; one that nobody of the fleet has signed is none.
    func learnRevocations(fromServer entries: [[UInt8]]) async
}

/// What answers is somebody else.
package struct NotTheServer: Error, Hashable, Sendable {
    /// For people: a whole sentence.
    package let reason: String

    /// Takes the whole sentence.
    package init(_ reason: String) {
        self.reason = reason
    }
}
