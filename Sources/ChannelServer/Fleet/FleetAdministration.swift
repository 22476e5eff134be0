import CRDT
import Identity
import Storage
import Systemd

/// Lets the server into its fleet, by files or by a code. It may run meanwhile.
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

    let store: Store

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
        if !changesFleet, let objection = Self.objection(of: await fleet(in: papers), to: membership.trust) {
            throw objection
        }
        // Those of another fleet are passed over where they are read (`ServerIdentity.readRevocations`).
        try await store.keepServerCertificates(pem)
        return try await status()
    }

    /// The fleet that it is of by now; nil without one, and for papers that nobody can read.
    func fleet(in papers: (key: DeviceKey, certificates: String)) async -> FleetTrust? {
        guard !papers.certificates.isEmpty else { return nil }
        return try? await ServerMembership(papers.certificates, of: papers.key.publicKey).trust
    }

    /// Why a server of one fleet does not come into another; nil for one without, and for the same.
    static func objection(of former: FleetTrust?, to fleet: FleetTrust) -> StartProblem? {
        guard let former, former.root.key != fleet.root.key else { return nil }
        return StartProblem(
            .badData,
            "The server belongs to fleet \(former.short), and these are of fleet \(fleet.short); "
                + "give --another-fleet if it is to change.")
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
