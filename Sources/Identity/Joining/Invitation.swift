import CRDT

/// One invitation as its inviter keeps it: who knows the code within ten minutes joins, once.
///
/// A value; times are milliseconds of a clock that never goes back.
package struct Invitation: Sendable {
    /// How long it is open, in milliseconds.
    package static let lifetime: UInt64 = 600_000
    /// How often its name may come with a proof that does not fit.
    package static let tries = 3

    /// What became of an attempt to join.
    package enum Answer: Hashable, Sendable {
        /// Another invitation was meant, if any: it costs nothing and says nothing.
        case notThis
        /// The code was wrong. So many tries are left.
        case wrongCode(triesLeft: Int)
        /// The newcomer knows the code; this shows it that the inviter does.
        case proved([UInt8])
        /// It is not open any more.
        case void(End)
    }

    /// Why an invitation is not open any more.
    package enum End: Hashable, Sendable {
        case expired
        case triesUsedUp
        /// Somebody has joined with it, or is about to.
        case used
        /// The inviter has taken it back.
        case withdrawn

        /// For both screens: what happened and what to do.
        package var sentence: String {
            switch self {
            case .expired: "The code was good for ten minutes, which are over; ask for a new one."
            case .triesUsedUp: "Three wrong codes came for this invitation; ask for a new one."
            case .used:
                "The code has been used already; if that was another laptop than it was meant for, revoke that one."
            case .withdrawn: "The inviter has taken the invitation back; ask for a new one."
            }
        }
    }

    private enum State {
        case open(triesLeft: Int)
        case provedBy(DevicePublicKey)
        case ended(End)
    }

    /// To be read to the newcomer's person.
    package let code: InvitationCode
    /// What the newcomer will be.
    package let role: FleetRole
    private let key: JoinKey
    private let inviter: DevicePublicKey
    private let fleet: DevicePublicKey
    private let expiry: UInt64
    private var state = State.open(triesLeft: tries)

    /// Opens one; takes as long as a `JoinKey`, and throws what that throws.
    package init(
        _ code: InvitationCode, by inviter: DevicePublicKey, to fleet: DevicePublicKey, as role: FleetRole, now: UInt64
    ) throws {
        self.code = code
        self.role = role
        self.inviter = inviter
        self.fleet = fleet
        key = try JoinKey(code)
        expiry = now + Self.lifetime
    }

    /// Somebody wants to join.
    ///
    /// Who has proved that it knows the code may do so again while it is open, should the answer not have come.
    ///
    /// - Parameters:
    ///   - name: of the invitation that it means.
    ///   - newcomer: its key, which TLS has proved.
    package mutating func onAttempt(
        naming name: String, by newcomer: DevicePublicKey, proof: [UInt8], now: UInt64
    ) -> Answer {
        guard name == code.name else { return .notThis }
        if let reason = ended(by: now) { return .void(reason) }
        let terms = JoinTerms(inviter: inviter, newcomer: newcomer, fleet: fleet, role: role)
        let isRight = key.isProof(proof, of: .newcomer, for: terms)
        switch state {
        case .open(let triesLeft):
            guard isRight else {
                state = triesLeft > 1 ? .open(triesLeft: triesLeft - 1) : .ended(.triesUsedUp)
                return triesLeft > 1 ? .wrongCode(triesLeft: triesLeft - 1) : .void(.triesUsedUp)
            }
            state = .provedBy(newcomer)
            return .proved(key.proof(of: .inviter, for: terms))
        case .provedBy(newcomer) where isRight: return .proved(key.proof(of: .inviter, for: terms))
        case .provedBy: return .void(.used)
        case .ended(let reason): return .void(reason)
        }
    }

    /// The inviter takes it back, or has issued the certificate.
    package mutating func end(_ reason: End) {
        if case .ended = state { return }
        state = .ended(reason)
    }

    /// Who has proved that it knows the code, and waits for the inviter's yes.
    package mutating func provedNewcomer(by now: UInt64) -> DevicePublicKey? {
        if ended(by: now) == nil, case .provedBy(let newcomer) = state { newcomer } else { nil }
    }

    /// Why it is not open any more; nil while it is.
    package mutating func ended(by now: UInt64) -> End? {
        if now >= expiry { end(.expired) }
        if case .ended(let reason) = state { return reason }
        return nil
    }
}
