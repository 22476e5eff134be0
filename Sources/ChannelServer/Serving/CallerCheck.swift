import Identity
import ServerChannel
import Storage
import Synchronization

/// Knows which member of the fleet asks.
final class CallerCheck: Sendable {
    /// How long a chain is believed without looking again: who was revoked, or has run out, goes on that much longer, whatever
    /// becomes of the wall clock meanwhile.
    private static let belief = Duration.seconds(2)
    private static let remembered = 4_096

    private let identity: ServerIdentity
    private let now: WallClock
    private let known = Mutex<[[[UInt8]]: (member: FleetMember, until: ContinuousClock.Instant)]>([:])

    init(identity: ServerIdentity, now: WallClock) {
        self.identity = identity
        self.now = now
    }

    /// - Parameter chain: of a key that the caller has proved: its certificate and its issuer's, in DER.
    /// - Throws: `ChannelProblem` for who is not let in.
    func member(showing chain: [[UInt8]]) async throws(ChannelProblem) -> FleetMember {
        guard !chain.isEmpty else {
            throw ChannelProblem(
                .unauthorised, "No certificate was shown; ask with one of the fleet that this server belongs to.")
        }
        let instant = ContinuousClock.now
        if let believed = known.withLock({ $0[chain] }), believed.until > instant { return believed.member }
        do throws(FleetTrust.Refusal) {
            let member = try await identity.member(showing: chain, at: now.received.milliseconds)
            known.withLock { known in
                if known.count >= Self.remembered { known = [:] }
                known[chain] = (member, instant + Self.belief)
            }
            return member
        } catch {
            known.withLock { $0[chain] = nil }
            throw ChannelProblem(.unauthorised, error.sentence)
        }
    }
}
