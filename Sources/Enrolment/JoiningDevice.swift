package import Identity

/// Who joins a fleet by a code: a laptop, or the company's server.
package protocol JoiningDevice: Sendable {
    /// What is to be let in: TLS proves that the newcomer has it.
    var key: DeviceKey { get }

    /// A server takes no role of a laptop, and a laptop none of a server.
    var isServer: Bool { get }

    /// Why it does not join this fleet: a sentence with the remedy; nil if it does. Nothing was proved by then.
    func objection(to fleet: FleetTrust) -> String?

    /// Takes up its certificate, its issuer's and the root's, in PEM: all of that is durable, or nothing has changed.
    ///
    /// - Throws: `IdentityFault`.
    func install(_ pem: String) async throws
}
