import Authorship
import CRDT
import FleetTLS
import Identity
import Storage
import Synchronization

/// Who the server is: it signs what it says, and takes journals of its fleet only.
final class ServerIdentity: JournalSigner {
    let store: Store
    /// Whom the fleet has shut out, as far as laptops have told it.
    let revocations = Mutex(RevocationLog())
    /// Who is on which job, as far as laptops have told it.
    let assignments = Mutex(AssignmentLog())
    let key: DeviceKey
    let vouched = VouchedAuthors()
    private let membership = Mutex<ServerMembership?>(nil)

    /// Takes up the key in a server's store, or makes one, and has the store sign with it.
    ///
    /// - Throws: `StartProblem` for what cannot be read.
    init(in store: Store) async throws {
        let papers = try await store.papers()
        key = papers.key
        self.store = store
        try await takeUp(papers.certificates)
        var generator = SystemRandomNumberGenerator()
        try await store.takeUp(self, using: &generator)
    }

    /// Looks whether the fleet says something else of the key by now.
    func refresh() async throws {
        let (former, installed) = (membership.withLock { $0 }, try await store.papers().certificates)
        guard installed != former?.pem ?? "" else { return }
        try await takeUp(installed)
        do { try await store.keepCertificates() } catch {
            // To be done at the next look.
            membership.withLock { $0 = former }
            throw error
        }
    }

    private func takeUp(_ certificates: String) async throws {
        guard !certificates.isEmpty else { return }
        let fresh = try await ServerMembership(certificates, of: key.publicKey)
        membership.withLock { $0 = fresh }
        try await readRevocations()
        try await readAssignments()
    }

    /// Itself, as its fleet has let it in; nil without one.
    var member: FleetMember? { membership.withLock { $0?.member } }

    /// The fleet that it belongs to; nil without one.
    var trust: FleetTrust? { membership.withLock { $0?.trust } }

    /// What it proves itself with to who connects; nil without a fleet.
    var credentials: FleetCredentials? {
        membership.withLock { $0.map { FleetCredentials(certificates: $0.certificates, key: key.pem) } }
    }

    /// Whether the fleet has let in who has signed a run.
    func vouches(for segment: JournalSegment) async throws -> Bool {
        guard let trust else { return false }
        let vouching = try await store.vouching(of: segment) { [vouched] in
            await vouched.includes($0, in: trust, now: .since(0))
        }
        // Where nobody has said whose it is, the store refuses it.
        guard case .unvouched = vouching else { return true }
        return false
    }

    // MARK: JournalSigner

    var publicKey: [UInt8] { key.publicKey.bytes }

    var certificates: [[UInt8]] { membership.withLock { $0?.certificates ?? [] } }

    func signature(over content: [UInt8]) -> [UInt8] { key.signature(over: content) }
}
