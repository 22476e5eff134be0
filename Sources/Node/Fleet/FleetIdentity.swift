package import CRDT
import Engine
package import FleetTLS
package import Identity
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
        /// What a server has prolonged `own` by, then the server's own certificate and its issuer's; nothing without.
        var renewal: [FleetCertificate] = []

        /// When it ends, in milliseconds since 1970.
        var validUntil: Int64 { max(own.notAfter, renewal.first?.notAfter ?? 0) }
        /// What is shown to others, in their order.
        var chain: [FleetCertificate] { renewal.prefix(1) + [own, issuer] + renewal.dropFirst() }
        /// As it stands in a file.
        var pem: String { ([own, issuer, trust.root] + renewal).map(\.pem).joined() }
    }

    /// Why the laptop's place in a fleet cannot be changed, or it may not do something there.
    enum Fault: IdentityFault, Hashable {
        case notEnrolled
        case enrolled
        case notIssuer
        /// This laptop's key was shut out.
        case revoked
        /// What was to be installed, or asked for, is not what it should be.
        case unusable(String)
        /// Somebody else may do what was asked for.
        case notPermitted(String)

        /// Whether another laptop may do it, as things are.
        var isOfRights: Bool {
            switch self {
            case .notIssuer, .notPermitted: true
            case .notEnrolled, .enrolled, .revoked, .unusable: false
            }
        }

        /// What is wrong and what to do.
        var sentence: String {
            switch self {
            case .notEnrolled: "This laptop belongs to no fleet; let it join one first ('muster fleet join CODE')."
            case .enrolled: "This laptop belongs to another fleet; let it leave that with 'muster fleet leave' first."
            case .notIssuer: "This laptop may not let others in; ask someone who leads a crew, or the office."
            case .revoked: "This laptop was revoked; let it leave the fleet, which gives it a new key, and join again."
            case .unusable(let reason), .notPermitted(let reason): reason
            }
        }
    }

    /// Why a laptop that was in a fleet cannot show that it is: both halves of a sentence.
    struct Damage: Error, Hashable, CustomStringConvertible {
        let finding: String
        let remedy: String

        var description: String { "\(finding); \(remedy)" }
    }

    struct State {
        var key: DeviceKey
        var membership: Membership?
        /// Why the laptop's place in its fleet cannot be read; it goes on alone.
        var damage: Damage?
        var isInviting = false
        var revocations = RevocationLog()
        /// Laptops that were let in, or that this one has issued a certificate to.
        var known: [DeviceID: KnownDevice] = [:]
        var listeners: [AsyncStream<Void>.Continuation] = []

        /// Nobody believes what a server has signed that was shut out, or whose issuer was.
        mutating func forgetVoidRenewal() {
            guard let signers = membership?.renewal.dropFirst() else { return }
            if signers.contains(where: { revocations.contains($0.key.device) }) { membership?.renewal = [] }
        }

        /// Nothing of a fleet is left.
        mutating func leave() {
            membership = nil
            damage = nil
            revocations = RevocationLog()
            known = [:]
        }
    }

    let state: Mutex<State>
    let vouched = VouchedAuthors()
    /// Nil in tests that keep nothing.
    let files: FleetFiles?
    /// One writer of files at a time, so that the newest state is written last.
    let writing = Mutex(())
    private let clock = Mutex<ClockService?>(nil)

    /// A laptop without a fleet, of which nothing is kept.
    package init(key: DeviceKey = DeviceKey()) {
        state = Mutex(State(key: key, membership: nil))
        files = nil
    }

    /// Takes up the laptop's key, or makes one.
    ///
    /// - Parameters:
    ///   - device: as the store calls it. A key that another store has used is another laptop's: this one then has to
    ///     join for itself.
    ///   - credentials: as in `FleetFiles`.
    /// - Throws: `ConfigurationError`.
    init(
        in directory: StateDirectory, of device: DeviceID, credentials: String? = nil
    ) async throws(ConfigurationError) {
        let files = FleetFiles(path: directory.path, credentials: credentials)
        self.files = files
        guard let (text, place) = try files.readKey() else {
            state = Mutex(State(key: try Self.makeKey(files), membership: nil))
            return
        }
        guard let key = DeviceKey(pem: text) else {
            throw ConfigurationError(
                "\(place) holds no key; move it aside, start again, and let this laptop join anew.")
        }
        guard key.publicKey.device == device else {
            state = Mutex(State(key: try Self.makeKey(files), membership: nil))
            return
        }
        var own = State(key: key)
        // Whoever records a job on this laptop goes on; only what needs certificates waits.
        do throws(Damage) { own.membership = try Self.membership(of: key, files) } catch { own.damage = error }
        try await Self.readRegister(files, into: &own)
        state = Mutex(own)
    }

    /// Goes by its time from now on.
    func follow(_ clock: ClockService) {
        self.clock.withLock { $0 = clock }
    }

    /// The name that follows from the key.
    var device: DeviceID { publicKey.device }

    package var key: DeviceKey { state.withLock { $0.key } }

    var publicKey: DevicePublicKey { key.publicKey }

    /// The laptop's own and its issuer's, in DER, beside which it signs what others keep; none while it belongs to no fleet, and for a key that it has no more.
    func certificates(of key: DevicePublicKey) -> [[UInt8]] {
        guard let membership, membership.own.key == key else { return [] }
        return [membership.own.bytes, membership.issuer.bytes]
    }

    /// Whether newcomers are heard: an invitation of this laptop is open.
    var isInviting: Bool {
        get { state.withLock { $0.isInviting } }
        set { state.withLock { $0.isInviting = newValue } }
    }

    var membership: Membership? { state.withLock { $0.membership } }

    /// Why its place in a fleet cannot be read; nil where it can, or there is none.
    var damage: Damage? { state.withLock { $0.membership == nil ? $0.damage : nil } }

    /// An element for each change of the key or of the membership from now on; several may come as one.
    func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        return changes
    }

    /// Whether the laptop belongs to a fleet: now, and with each change.
    var belongings: AsyncStream<Bool> {
        let changes = changes()
        return AsyncStream { continuation in
            continuation.yield(membership != nil)
            let following = Task {
                for await _ in changes { continuation.yield(self.membership != nil) }
                continuation.finish()
            }
            continuation.onTermination = { _ in following.cancel() }
        }
    }

    func change(_ body: @Sendable (inout State) -> Void) {
        let listeners = state.withLock { state in
            body(&state)
            return state.listeners
        }
        for listener in listeners { listener.yield() }
    }

    var revocations: RevocationLog { state.withLock { $0.revocations } }

    /// Whether this laptop itself was shut out.
    var isRevoked: Bool { state.withLock { $0.revocations.contains($0.key.publicKey.device) } }

    /// Between which times it is now. Before there is a clock nothing is known.
    var now: TimeBounds {
        guard let times = clock.withLock({ $0?.possibleTimes }) else { return .since(newestSigned) }
        // Whoever does not know the time knows that it is not earlier than what others have signed as past.
        guard times.upperBound == .max else {
            return TimeBounds(earliest: times.lowerBound, latest: times.upperBound)
        }
        return .since(max(times.lowerBound, newestSigned))
    }

    /// The newest time that an issuer of this fleet has signed as certainly past, in milliseconds since 1970.
    private var newestSigned: Int64 {
        state.withLock { state in
            state.known.values.reduce(state.membership?.own.notBefore ?? 0) { max($0, $1.signedAfter ?? 0) }
        }
    }

    /// Corrected time, in milliseconds since 1970.
    var time: Int64 { Int64(clamping: clock.withLock { $0?.now.milliseconds } ?? 0) }

    // MARK: LinkSecurity

    package var credentials: FleetCredentials? {
        state.withLock { state in
            // Who was revoked would only be turned away everywhere, and has nothing to say to anybody.
            guard !state.revocations.contains(state.key.publicKey.device) else { return nil }
            return state.membership.map {
                FleetCredentials(certificates: $0.chain.map(\.bytes), key: state.key.pem)
            }
        }
    }

    package func admit(_ chain: [[UInt8]]) async throws(LinkRefusal) -> DeviceID {
        guard let membership else { throw LinkRefusal(Fault.notEnrolled.sentence) }
        do throws(FleetTrust.Refusal) {
            let member = try await membership.trust.judge(chain, now: now, revocations: revocations)
            guard member.role.isLaptops else { throw .noLaptop }
            note(member, showing: chain)
            return member.key.device
        } catch {
            throw LinkRefusal(error.sentence)
        }
    }

    package func hears(_ chain: [[UInt8]]) async -> Bool {
        if chain.count == 1 { return isInviting && (try? FleetCertificate(chain[0]))?.kind == .newcomer }
        // One whose certificate has run out long ago may have a new one.
        guard let membership, membership.authority != nil else { return false }
        return (try? await membership.trust.judgeRenewal(chain, now: now, revocations: revocations)) != nil
    }

    static func makeKey(_ files: FleetFiles) throws(ConfigurationError) -> DeviceKey {
        let key = DeviceKey()
        // In this order: without the former key the rest is of no use, and a full disk changes nothing.
        try files.write(key.pem, to: FleetFiles.key)
        try forgetFleet(files)
        return key
    }

    /// As it was kept. It was judged when it came; peers judge it each time.
    private static func membership(of key: DeviceKey, _ files: FleetFiles) throws(Damage) -> Membership? {
        let place = "\(files.path)/\(FleetFiles.chain)"
        let anew = "move it aside, start musterd again, and let this laptop join anew"
        let (chain, issuing): (String?, String?)
        do throws(ConfigurationError) {
            (chain, issuing) = (try files.read(FleetFiles.chain), try files.read(FleetFiles.issuer))
        } catch {
            throw Damage(
                finding: "\(place) cannot be read", remedy: "check its owner and mode, and the disk; else \(anew)")
        }
        guard let chain else {
            // Whoever leaves a fleet takes these away with it.
            guard issuing != nil || (try? files.read(FleetFiles.devices)) != nil else { return nil }
            throw Damage(
                finding: "\(place) is missing, by which others know this laptop",
                remedy: "bring it back from a copy and start musterd again, or let this laptop join anew")
        }
        guard let all = try? FleetCertificate.all(inPEM: chain), [3, 6].contains(all.count),
            all[0].key == key.publicKey, let trust = FleetTrust(root: all[2])
        else { throw Damage(finding: "\(place) holds no certificates of this laptop", remedy: anew) }
        let issuer = issuing.flatMap { try? FleetCertificate.all(inPEM: $0).first }
        let authority = issuer.flatMap { try? CertificateAuthority($0, key: key, fleet: trust.root.key) }
        return Membership(
            trust: trust, own: all[0], issuer: all[1], authority: authority, renewal: Array(all.dropFirst(3)))
    }
}
