package import CRDT
import Engine
import Identity
import Storage
import Synchronization
package import Transport

/// Who this laptop is, and the fleet that it belongs to: decides who is let in (`LinkSecurity`).
package final class FleetIdentity: LinkSecurity {
    /// The fleet that the laptop belongs to.
    struct Membership: Sendable {
        let trust: FleetTrust
        /// This laptop's certificate.
        let own: FleetCertificate
        /// Whoever has signed it.
        let issuer: FleetCertificate
        /// Issues certificates, if this laptop may.
        let authority: CertificateAuthority?

        /// As it stands in a file.
        var pem: String { own.pem + issuer.pem + trust.root.pem }
    }

    /// Why the laptop's place in a fleet cannot be changed.
    enum Fault: IdentityFault {
        case notEnrolled
        case enrolled
        case notIssuer
        /// What was to be installed, or asked for, is not what it should be.
        case unusable(String)

        /// What is wrong and what to do.
        var sentence: String {
            switch self {
            case .notEnrolled: "This laptop belongs to no fleet; let it join one first."
            case .enrolled: "This laptop belongs to another fleet; let it leave that with 'muster fleet leave' first."
            case .notIssuer: "This laptop may not let others in; ask someone who leads a crew, or the office."
            case .unusable(let reason): reason
            }
        }
    }

    private struct State {
        var key: DeviceKey
        var membership: Membership?
        var isInviting = false
        var listeners: [AsyncStream<Void>.Continuation] = []
    }

    private let state: Mutex<State>
    /// Nil in tests that keep nothing.
    private let files: FleetFiles?
    private let clock = Mutex<ClockService?>(nil)

    /// A laptop with a new key and without a fleet, of which nothing is kept.
    package init() {
        state = Mutex(State(key: DeviceKey(), membership: nil))
        files = nil
    }

    /// Takes up the laptop's key, or makes one.
    ///
    /// - Parameter device: as the store calls it. A key that another store has used is another laptop's: this one then has to
    ///   join for itself.
    /// - Throws: `ConfigurationError`.
    init(in directory: StateDirectory, of device: DeviceID) throws(ConfigurationError) {
        let files = FleetFiles(path: directory.path)
        self.files = files
        guard let text = try files.read(FleetFiles.key) else {
            state = Mutex(State(key: try Self.makeKey(files), membership: nil))
            return
        }
        guard let key = DeviceKey(pem: text) else {
            throw ConfigurationError(
                "\(directory.path)/\(FleetFiles.key) holds no key; move it aside, start again, and let this laptop join anew."
            )
        }
        guard key.publicKey.device == device else {
            state = Mutex(State(key: try Self.makeKey(files), membership: nil))
            return
        }
        state = Mutex(State(key: key, membership: try Self.membership(of: key, files)))
    }

    /// Goes by its time from now on.
    func follow(_ clock: ClockService) {
        self.clock.withLock { $0 = clock }
    }

    /// The name that follows from the key.
    var device: DeviceID { publicKey.device }

    var publicKey: DevicePublicKey { state.withLock { $0.key.publicKey } }

    /// Whether newcomers are heard: an invitation of this laptop is open.
    var isInviting: Bool {
        get { state.withLock { $0.isInviting } }
        set { state.withLock { $0.isInviting = newValue } }
    }

    var membership: Membership? { state.withLock { $0.membership } }

    /// An element for each change of the key or of the membership from now on; several may come as one.
    func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        return changes
    }

    private func change(_ body: @Sendable (inout State) -> Void) {
        let listeners = state.withLock { state in
            body(&state)
            return state.listeners
        }
        for listener in listeners { listener.yield() }
    }

    /// Between which times it is now. Before there is a clock nothing is known.
    var now: TimeBounds {
        guard let times = clock.withLock({ $0?.possibleTimes }) else { return .since(0) }
        return TimeBounds(earliest: times.lowerBound, latest: times.upperBound)
    }

    /// Corrected time, in milliseconds since 1970.
    private var time: Int64 { Int64(clamping: clock.withLock { $0?.now.milliseconds } ?? 0) }

    // MARK: LinkSecurity

    package var credentials: LinkCredentials? {
        state.withLock { state in
            state.membership.map {
                LinkCredentials(certificates: [$0.own.bytes, $0.issuer.bytes], key: state.key.pem)
            }
        }
    }

    package func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID {
        guard let membership else { throw LinkRefusal(Fault.notEnrolled.sentence) }
        do throws(FleetTrust.Refusal) {
            return try await membership.trust.judge(chain, now: now).key.device
        } catch {
            throw LinkRefusal(error.sentence)
        }
    }

    package func hears(_ chain: [[UInt8]]) async -> Bool {
        guard isInviting, chain.count == 1, let certificate = try? FleetCertificate(chain[0]) else { return false }
        return certificate.kind == .newcomer
    }

    // MARK: Joining and leaving

    /// What a laptop shows that nobody vouches for.
    func newcomerCredentials() throws -> LinkCredentials {
        let key = state.withLock { $0.key }
        return LinkCredentials(
            certificates: [try CertificateAuthority.makeNewcomer(key).bytes], key: key.pem)
    }

    /// What an issuer needs to know of this laptop: PKCS #10 in PEM.
    var request: String {
        get throws(Fault) {
            do { return try SigningRequest(state.withLock { $0.key }).pem } catch { throw .unusable("\(error)") }
        }
    }

    /// This laptop's membership, if it may let in others who do that much.
    func issuing(_ role: FleetRole) throws(Fault) -> Membership {
        guard let membership else { throw .notEnrolled }
        guard let authority = membership.authority else { throw .notIssuer }
        guard role <= authority.certificate.role else {
            throw .unusable(CertificateAuthority.Refusal.roleTooHigh(mine: authority.certificate.role).sentence)
        }
        return membership
    }

    /// Makes a certificate for another laptop.
    ///
    /// - Parameter request: as in `request`.
    /// - Returns: what the other one installs.
    func sign(_ request: String, as role: FleetRole) throws(Fault) -> String {
        let key: DevicePublicKey
        do { key = try SigningRequest.key(inPEM: request) } catch { throw .unusable(error.sentence) }
        return try issue(to: key, as: role).map(\.pem).joined()
    }

    /// Makes a certificate for another laptop's key.
    ///
    /// - Returns: the laptop's, its issuer's and the root's.
    func issue(to key: DevicePublicKey, as role: FleetRole) throws(Fault) -> [FleetCertificate] {
        guard let membership else { throw .notEnrolled }
        guard let authority = membership.authority else { throw .notIssuer }
        do {
            let certificate = try authority.issue(.laptop, to: key, as: role, now: time)
            return [certificate, authority.certificate, membership.trust.root]
        } catch let fault as any IdentityFault {
            throw .unusable(fault.sentence)
        } catch {
            throw .unusable("The certificate could not be made (\(error)); try again.")
        }
    }

    /// Takes up what an issuer, or the root, has made for this laptop.
    ///
    /// - Parameter pem: the laptop's certificate or one that lets it issue, then those above it, the root's last.
    func install(_ pem: String) async throws {
        let key = state.withLock { $0.key }
        let fresh = try await Self.membership(pem, of: key, now: now, time: time)
        if let membership, membership.trust.root.key != fresh.trust.root.key { throw Fault.enrolled }
        try files?.write(fresh.pem, to: FleetFiles.chain)
        if let authority = fresh.authority { try files?.write(authority.certificate.pem, to: FleetFiles.issuer) }
        change { state in
            let authority = fresh.authority ?? state.membership?.authority
            state.membership = Membership(
                trust: fresh.trust, own: fresh.own, issuer: fresh.issuer, authority: authority)
        }
    }

    /// The same for certificates in DER.
    ///
    /// - Parameter fleet: the root's key, which has to be that of the last one.
    func install(_ certificates: [[UInt8]], of fleet: DevicePublicKey) async throws {
        let read = certificates.compactMap { try? FleetCertificate($0) }
        guard read.count == certificates.count, read.last?.key == fleet else {
            throw Fault.unusable("The inviter gave certificates of another fleet; ask for a new code.")
        }
        try await install(read.map(\.pem).joined())
    }

    /// Gives up the laptop's place in its fleet. The key stays: it names the laptop.
    func leave() throws {
        guard membership != nil else { throw Fault.notEnrolled }
        try files?.remove(FleetFiles.issuer)
        try files?.remove(FleetFiles.chain)
        change { $0.membership = nil }
    }

    /// Another laptop has this one's key: this one makes a new one, and has to join anew.
    func renewKey() throws -> DeviceID {
        let key = try files.map(Self.makeKey) ?? DeviceKey()
        change { state in
            state.key = key
            state.membership = nil
        }
        return key.publicKey.device
    }

    private static func makeKey(_ files: FleetFiles) throws(ConfigurationError) -> DeviceKey {
        let key = DeviceKey()
        try files.remove(FleetFiles.issuer)
        try files.remove(FleetFiles.chain)
        try files.write(key.pem, to: FleetFiles.key)
        return key
    }

    /// As it was kept. It was judged when it came; peers judge it each time.
    private static func membership(
        of key: DeviceKey, _ files: FleetFiles
    ) throws(ConfigurationError) -> Membership? {
        guard let text = try files.read(FleetFiles.chain) else { return nil }
        guard let all = try? FleetCertificate.all(inPEM: text), all.count == 3, all[0].key == key.publicKey,
            let trust = FleetTrust(root: all[2])
        else {
            throw ConfigurationError(
                "\(files.path)/\(FleetFiles.chain) holds no certificates of this laptop; move it aside, start again, and let "
                    + "this laptop join anew.")
        }
        let issuer = try files.read(FleetFiles.issuer).flatMap { try? FleetCertificate.all(inPEM: $0).first }
        let authority = issuer.flatMap { try? CertificateAuthority($0, key: key, fleet: trust.root.key) }
        return Membership(trust: trust, own: all[0], issuer: all[1], authority: authority)
    }

    private static func membership(
        _ pem: String, of key: DeviceKey, now: TimeBounds, time: Int64
    ) async throws -> Membership {
        guard let all = try? FleetCertificate.all(inPEM: pem), let first = all.first, let last = all.last,
            let trust = FleetTrust(root: last)
        else { throw Fault.unusable("These are no certificates of a fleet; give what 'muster fleet sign' printed.") }
        guard first.key == key.publicKey else {
            throw Fault.unusable("The certificate is another laptop's; have one made from this laptop's own request.")
        }
        if first.kind == .issuer {
            guard all.count == 2, await trust.isIssuer(first, now: now) else {
                throw Fault.unusable("The right to issue is not from this fleet's root, or has run out.")
            }
            let authority = try CertificateAuthority(first, key: key, fleet: trust.root.key)
            let own = try authority.issue(.laptop, to: key.publicKey, as: first.role, now: time)
            return Membership(trust: trust, own: own, issuer: first, authority: authority)
        }
        do throws(FleetTrust.Refusal) {
            _ = try await trust.judge(all.dropLast().map(\.bytes), now: now)
        } catch {
            throw Fault.unusable(error.sentence)
        }
        return Membership(trust: trust, own: first, issuer: all[1], authority: nil)
    }
}
