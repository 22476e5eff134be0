import FleetTLS
package import Identity
package import Logging
package import Replication
package import Transport
import WireFormat

/// Joins a fleet by a code: looks for the laptop that has the invitation, and takes the certificates that it gives.
package actor Joiner {
    /// How far it has come.
    package enum Progress: Sendable, Hashable {
        case nothing
        /// Nobody who knows the code was found yet.
        case searching
        /// The inviter, so called, has proved that it knows the code; its person has not said yes.
        case waiting(inviter: String)
        case joined
        case failed(Failure)
    }

    /// Why it did not join; nothing has changed.
    package struct Failure: Sendable, Hashable {
        /// With the remedy.
        package let sentence: String
        /// It could not have come right: the invitation is for others.
        package let isForGood: Bool

        init(_ sentence: String, isForGood: Bool = false) {
            self.sentence = sentence
            self.isForGood = isForGood
        }
    }

    /// What became of one attempt at one address.
    private enum Outcome {
        case joined
        /// Nobody is there, or somebody who has no such invitation.
        case elsewhere
        case refused(Failure)
    }

    /// One who joins, as it stands when it begins: it may get another key meanwhile.
    private struct Newcomer: Sendable {
        let code: InvitationCode
        let secret: JoinKey
        let key: DevicePublicKey
        /// What it is by its own word; of a laptop, whatever it may do.
        let role: FleetRole
        let credentials: FleetCredentials

        /// Takes a tenth of a second.
        init(_ device: any JoiningDevice, with code: InvitationCode) throws {
            let own = device.key
            self.code = code
            secret = try JoinKey(code)
            key = own.publicKey
            role = device.isServer ? .server : .reader
            let certificate = try CertificateAuthority.makeNewcomer(own, as: role)
            credentials = FleetCredentials(certificates: [certificate.bytes], key: own.pem)
        }
    }

    private static let searchLimit: Duration = .seconds(60)
    private static let pause: Duration = .seconds(1)
    private static let messageLimit: Duration = .seconds(10)
    private static let answerLimit: Duration = .milliseconds(Int64(Invitation.lifetime) + 10_000)

    /// How far it has come, at each step from the first on, for one reader; who reads seldom misses the oldest.
    package nonisolated let steps: AsyncStream<Progress>
    /// How far it has come by now.
    package private(set) var progress = Progress.nothing {
        didSet { report.yield(progress) }
    }
    private let report: AsyncStream<Progress>.Continuation
    private let device: any JoiningDevice
    private let dialler: EnrolmentDialler
    private let addresses: @Sendable () async -> [PeerAddress]
    private let hostName: String
    private let executor: (any TaskExecutor)?
    private let logger: Logger
    private var task: Task<Void, Never>?

    /// Asks nobody before `join`.
    ///
    /// - Parameters:
    ///   - dialler: by default of one who has no links.
    ///   - addresses: where the inviter may be, asked for anew each second.
    ///   - hostName: what the inviter's person reads.
    ///   - executor: where it works; nil for the process's pool.
    package init(
        _ device: any JoiningDevice, dialler: EnrolmentDialler = EnrolmentDialler(),
        addresses: @escaping @Sendable () async -> [PeerAddress],
        hostName: String, executor: (any TaskExecutor)? = nil, logger: Logger
    ) {
        self.device = device
        self.dialler = dialler
        self.addresses = addresses
        self.hostName = hostName
        self.executor = executor
        self.logger = logger
        (steps, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
    }

    /// Begins to look for the inviter; ends what was begun before.
    package func join(by code: InvitationCode) {
        cancel()
        progress = .searching
        task = Task(executorPreference: executor) { await self.search(code) }
    }

    /// Gives up.
    package func cancel() {
        task?.cancel()
        task = nil
        if progress != .joined { progress = .nothing }
    }

    private func search(_ code: InvitationCode) async {
        do {
            // Beside the event loop's thread, on which everybody else waits.
            let newcomer = try await Task.detached(executorPreference: globalConcurrentExecutor) { [device] in
                try Newcomer(device, with: code)
            }.value
            let clock = ContinuousClock()
            var deadline = clock.now + Self.searchLimit
            while !Task.isCancelled, clock.now < deadline {
                switch await askEverybody(newcomer) {
                case .joined: return finish(.joined)
                case .refused(let failure): return finish(.failed(failure))
                case .elsewhere: break
                }
                // Who was found and then lost is looked for as long as at the beginning.
                if case .waiting = progress {
                    progress = .searching
                    deadline = clock.now + Self.searchLimit
                }
                try await Task.sleep(for: Self.pause)
            }
            finish(
                .failed(
                    Failure(
                        "No laptop with this invitation was found; bring both into one network, and look whether the "
                            + "invitation is still open.")))
        } catch is CancellationError {
            return
        } catch let fault as any IdentityFault {
            finish(.failed(Failure(fault.sentence)))
        } catch {
            finish(.failed(Failure("Joining has failed (\(error)); try again.")))
        }
    }

    private func finish(_ progress: Progress) {
        guard !Task.isCancelled else { return }
        self.progress = progress
        logger.info("joining has ended", metadata: ["outcome": "\(progress)"])
    }

    /// Asks at every address that is known, at once. Only one of them can have the invitation.
    private func askEverybody(_ newcomer: Newcomer) async -> Outcome {
        let addresses = await addresses()
        return await withTaskGroup(of: Outcome.self) { group in
            for address in addresses {
                group.addTask { await self.ask(at: address, newcomer) }
            }
            // Anybody can say no for the inviter, and only the inviter yes: a no counts when nobody has said yes.
            var refused: Outcome?
            for await outcome in group {
                switch outcome {
                case .elsewhere: break
                case .refused: refused = outcome
                case .joined:
                    group.cancelAll()
                    return outcome
                }
            }
            return refused ?? .elsewhere
        }
    }

    private func ask(at address: PeerAddress, _ newcomer: Newcomer) async -> Outcome {
        guard
            let connection = try? await dialler.dial(
                address, showing: newcomer.credentials, accepts: { Self.key(of: $0) != nil })
        else { return .elsewhere }
        defer { connection.close() }
        return await withTaskCancellationHandler {
            await converse(connection, newcomer)
        } onCancel: {
            connection.close()
        }
    }

    private func converse(_ connection: EnrolmentConnection, _ newcomer: Newcomer) async -> Outcome {
        connection.send(.ask(invitation: newcomer.code.name, name: hostName))
        let answer = await connection.next(within: Self.messageLimit)
        if case .refusal(let refusal)? = answer, refusal.isForGood { return refusedBy(connection.remote, refusal) }
        guard case .terms(let root, let role, let inviterName)? = answer,
            let inviter = Self.key(of: connection.chain), let role = FleetRole(rawValue: role),
            let root = try? FleetCertificate(root), let trust = FleetTrust(root: root)
        else { return .elsewhere }
        // What it may not become, and where it may not go, it does not ask for.
        guard role.isSameKind(as: newcomer.role) else { return refusedBy(inviterName, .otherKind) }
        if let objection = device.objection(to: trust) { return .refused(Failure(objection, isForGood: true)) }
        let terms = JoinTerms(inviter: inviter, newcomer: newcomer.key, fleet: trust.root.key, role: role)
        connection.send(.newcomerProof(newcomer.secret.proof(of: .newcomer, for: terms)))
        switch await connection.next(within: Self.messageLimit) {
        case .inviterProof(let proof):
            guard newcomer.secret.isProof(proof, of: .inviter, for: terms) else {
                logger.warning(
                    "a laptop claims an invitation and does not know its code",
                    metadata: ["remote": "\(connection.remote)"])
                return .elsewhere
            }
        case .refusal(let refusal): return refusedBy(inviterName, refusal)
        default: return .elsewhere
        }
        guard !Task.isCancelled else { return .elsewhere }
        progress = .waiting(inviter: inviterName)
        switch await connection.next(within: Self.answerLimit) {
        case .certificates(let certificates): return await install(certificates, of: trust)
        case .refusal(let refusal): return refusedBy(inviterName, refusal)
        default: return .elsewhere
        }
    }

    private func refusedBy(_ inviter: String, _ refusal: EnrolmentRefusal) -> Outcome {
        let sentence: String
        switch refusal {
        case .elsewhere, .busy: return .elsewhere
        case .wrongCode(let left):
            let tries = left == 1 ? "one try is" : "\(left) tries are"
            sentence = "The code is wrong; \(tries) left: compare it, and join again."
        case .expired: sentence = Invitation.End.expired.sentence
        case .triesUsedUp: sentence = Invitation.End.triesUsedUp.sentence
        case .used: sentence = Invitation.End.used.sentence
        case .withdrawn: sentence = Invitation.End.withdrawn.sentence
        case .otherKind:
            sentence =
                device.isServer
                ? "The code is for a laptop, and this is a server; ask for one of 'muster fleet invite --role server'."
                : "The code is for the company's server, and this is a laptop; ask for one of 'muster fleet invite'."
        case .revoked:
            sentence =
                device.isServer
                ? "The fleet has shut out this server's key, for good; set the server up with a new database."
                : "The fleet has shut out this laptop's key, for good; 'muster fleet leave' gives it a new one, then join again."
        case .notRenewable, .unknown: sentence = "The inviter has another version of Muster; update the older one."
        }
        logger.notice("joining was refused", metadata: ["inviter": "\(inviter)", "reason": "\(refusal)"])
        return .refused(Failure(sentence, isForGood: refusal.isForGood))
    }

    private func install(_ certificates: [[UInt8]], of trust: FleetTrust) async -> Outcome {
        let read = certificates.compactMap { try? FleetCertificate($0) }
        guard read.count == certificates.count, read.last?.key == trust.root.key else {
            return .refused(Failure("The inviter gave certificates of another fleet; ask for a new code."))
        }
        do {
            try await device.install(read.map(\.pem).joined())
            return .joined
        } catch let fault as any IdentityFault {
            return .refused(Failure(fault.sentence))
        } catch {
            return .refused(Failure("\(error)"))
        }
    }

    private static func key(of chain: [[UInt8]]) -> DevicePublicKey? {
        chain.first.flatMap { try? FleetCertificate($0) }?.key
    }
}

extension EnrolmentRefusal {
    /// Whether the same device hears the same from everybody.
    fileprivate var isForGood: Bool { self == .otherKind || self == .revoked }
}
