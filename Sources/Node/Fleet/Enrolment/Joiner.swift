import CRDT
import Engine
import FleetTLS
import Identity
import Logging
import Replication
import Transport
import WireFormat

/// Joins a fleet by a code: looks for the laptop that has the invitation, and takes the certificates that it gives.
actor Joiner {
    /// How far it has come.
    enum Progress: Sendable, Hashable {
        case nothing
        /// Nobody who knows the code was found yet.
        case searching
        /// The inviter, so called, has proved that it knows the code; its person has not said yes.
        case waiting(inviter: String)
        case joined
        case failed(String)
    }

    /// What became of one attempt at one address.
    private enum Outcome {
        case joined
        /// Nobody is there, or somebody who has no such invitation.
        case elsewhere
        case refused(String)
    }

    private static let searchMilliseconds: UInt64 = 60_000
    private static let pauseMilliseconds: UInt64 = 1_000
    private static let messageLimit: Duration = .seconds(10)
    private static let answerLimit: Duration = .milliseconds(Int64(Invitation.lifetime) + 10_000)

    private let fleet: FleetIdentity
    private let transport: PeerTransport
    private let replicator: Replicator
    private let machine: any Machine
    private let hostName: String
    private let logger: Logger
    private(set) var progress = Progress.nothing
    private var task: Task<Void, Never>?

    init(
        fleet: FleetIdentity, transport: PeerTransport, replicator: Replicator, machine: any Machine, hostName: String,
        logger: Logger
    ) {
        self.fleet = fleet
        self.transport = transport
        self.replicator = replicator
        self.machine = machine
        self.hostName = hostName
        self.logger = logger
    }

    /// Begins to look for the inviter; ends what was begun before.
    func join(_ text: String) throws {
        let code: InvitationCode
        do throws(CodeFault) {
            code = try InvitationCode(text)
        } catch {
            throw FleetIdentity.Fault.unusable(error.sentence)
        }
        guard fleet.membership == nil else { throw FleetIdentity.Fault.enrolled }
        cancel()
        progress = .searching
        task = machine.begin { await self.search(code) }
    }

    /// Gives up.
    func cancel() {
        task?.cancel()
        task = nil
        if progress != .joined { progress = .nothing }
    }

    private func search(_ code: InvitationCode) async {
        do {
            let key = try await Inviter.slowly { try JoinKey(code) }
            let credentials = try fleet.newcomerCredentials()
            var deadline = machine.elapsedMilliseconds + Self.searchMilliseconds
            while !Task.isCancelled, machine.elapsedMilliseconds < deadline {
                switch await askEverybody(code, key, credentials) {
                case .joined: return finish(.joined)
                case .refused(let sentence): return finish(.failed(sentence))
                case .elsewhere: break
                }
                // Who was found and then lost is looked for as long as at the beginning.
                if case .waiting = progress {
                    progress = .searching
                    deadline = machine.elapsedMilliseconds + Self.searchMilliseconds
                }
                try await machine.sleep(milliseconds: Self.pauseMilliseconds)
            }
            finish(
                .failed(
                    "No laptop with this invitation was found; bring both into one network, and look whether the "
                        + "invitation is still open."))
        } catch is CancellationError {
            return
        } catch let fault as any IdentityFault {
            finish(.failed(fault.sentence))
        } catch {
            finish(.failed("Joining has failed (\(error)); try again."))
        }
    }

    private func finish(_ progress: Progress) {
        guard !Task.isCancelled else { return }
        self.progress = progress
        logger.info("joining has ended", metadata: ["outcome": "\(progress)"])
    }

    /// Asks at every address that is known, at once. Only one of them can have the invitation.
    private func askEverybody(
        _ code: InvitationCode, _ key: JoinKey, _ credentials: FleetCredentials
    ) async -> Outcome {
        let addresses = await replicator.knownAddresses()
        return await withTaskGroup(of: Outcome.self) { group in
            for address in addresses {
                group.addTask { await self.ask(at: address, code, key, credentials) }
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

    private func ask(
        at address: PeerAddress, _ code: InvitationCode, _ key: JoinKey, _ credentials: FleetCredentials
    ) async -> Outcome {
        guard
            let connection = try? await transport.enrol(
                at: address, showing: credentials, accepts: { Self.key(of: $0) != nil })
        else { return .elsewhere }
        defer { connection.close() }
        return await withTaskCancellationHandler {
            await converse(connection, code, key)
        } onCancel: {
            connection.close()
        }
    }

    private func converse(_ connection: EnrolmentConnection, _ code: InvitationCode, _ key: JoinKey) async -> Outcome {
        connection.send(.ask(invitation: code.name, name: hostName))
        guard case .terms(let root, let role, let inviterName)? = await connection.next(within: Self.messageLimit),
            let inviter = Self.key(of: connection.chain), let role = FleetRole(rawValue: role),
            let root = try? FleetCertificate(root), let trust = FleetTrust(root: root)
        else { return .elsewhere }
        let terms = JoinTerms(inviter: inviter, newcomer: fleet.publicKey, fleet: trust.root.key, role: role)
        connection.send(.newcomerProof(key.proof(of: .newcomer, for: terms)))
        switch await connection.next(within: Self.messageLimit) {
        case .inviterProof(let proof):
            guard key.isProof(proof, of: .inviter, for: terms) else {
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
        case .notRenewable, .unknown: sentence = "The inviter has another version of Muster; update the older one."
        }
        logger.notice("joining was refused", metadata: ["inviter": "\(inviter)", "reason": "\(refusal)"])
        return .refused(sentence)
    }

    private func install(_ certificates: [[UInt8]], of trust: FleetTrust) async -> Outcome {
        do {
            try await fleet.install(certificates, of: trust.root.key)
            return .joined
        } catch let fault as any IdentityFault {
            return .refused(fault.sentence)
        } catch {
            return .refused("\(error)")
        }
    }

    private static func key(of chain: [[UInt8]]) -> DevicePublicKey? {
        chain.first.flatMap { try? FleetCertificate($0) }?.key
    }
}
