import CRDT
import Identity
import Storage

/// Lets the server into its fleet by files. It may run meanwhile.
package struct FleetAdministration: Sendable {
    /// How the server stands.
    package struct Status: Sendable {
        /// SHA-256 of its public key: 64 hexadecimal digits.
        package let deviceID: String
        /// The fleet's short id; nil without one, as is the rest.
        package let fleetID: String?
        /// The short id of the laptop that has let it in.
        package let issuerID: String?
        /// When its certificate ends, in milliseconds since 1970.
        package let validUntil: Int64?
        /// By what a program that knows no fleets can be sure of the server: see `DevicePublicKey.pin`.
        package let pin: String
    }

    private let store: Store

    /// - Parameter makesDatabase: for a server that has not served yet; with it a mistyped path is a new server.
    /// - Throws: `StartProblem`.
    package init(databasePath: String, makesDatabase: Bool = false) throws {
        guard makesDatabase || DatabaseFile.exists(databasePath) else {
            throw StartProblem(.badData, "There is no database at \(databasePath); name the server's with --database.")
        }
        store = try DatabaseFile.open(databasePath)
    }

    /// What an issuer makes the server's certificate from: PKCS #10 in PEM.
    package func request() async throws -> String {
        try SigningRequest(try await store.papers().key).pem
    }

    /// Takes up what `muster fleet sign --role server` printed; a server that runs goes by it within two seconds.
    ///
    /// - Parameter changesFleet: it may be of another fleet than the server is of by now.
    /// - Throws: `StartProblem`, after which nothing has changed.
    package func install(_ pem: String, changesFleet: Bool) async throws -> Status {
        let papers = try await store.papers()
        let membership = try await ServerMembership(pem, of: papers.key.publicKey)
        if !papers.certificates.isEmpty, !changesFleet,
            let former = try? await ServerMembership(papers.certificates, of: papers.key.publicKey),
            former.trust.root.key != membership.trust.root.key
        {
            throw StartProblem(
                .badData,
                "The server belongs to fleet \(former.trust.short), and these are of fleet \(membership.trust.short); "
                    + "give --another-fleet if it is to change.")
        }
        // Those of another fleet are passed over where they are read (`ServerIdentity.readRevocations`).
        try await store.keepServerCertificates(pem)
        return try await status()
    }

    /// How it stands now.
    package func status() async throws -> Status {
        let papers = try await store.papers()
        let key = papers.key.publicKey
        let membership =
            papers.certificates.isEmpty ? nil : try await ServerMembership(papers.certificates, of: key)
        return Status(
            deviceID: key.device.description, fleetID: membership?.trust.short,
            issuerID: membership?.member.issuer.device.short, validUntil: membership?.member.validUntil,
            pin: key.pin)
    }

    /// Closes the database; to be called last.
    package func close() throws { try store.close() }
}
