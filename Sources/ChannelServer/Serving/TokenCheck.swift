import ServerChannel
import Storage
import Synchronization

/// Knows whose token a request carries.
final class TokenCheck: Sendable {
    /// How long a token is believed without looking again: a revoked one holds that much longer, whatever becomes of the
    /// wall clock meanwhile.
    private static let belief = Duration.seconds(2)
    private static let remembered = 4_096

    private let store: Store
    private let known = Mutex<[String: (name: String, until: ContinuousClock.Instant)]>([:])

    init(store: Store) {
        self.store = store
    }

    /// - Parameter authorization: the header, as in `Bearer TOKEN` (RFC 6750 section 2.1).
    func name(of authorization: String) async throws -> String {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw Self.unauthorised }
        let secret = String(parts[1])
        let now = ContinuousClock.now
        if let believed = known.withLock({ $0[secret] }), believed.until > now { return believed.name }
        guard secret.utf8.count <= 128, let name = try await store.accessName(secret: secret) else {
            known.withLock { $0[secret] = nil }
            throw Self.unauthorised
        }
        known.withLock { known in
            if known.count >= Self.remembered { known = [:] }
            known[secret] = (name, now + Self.belief)
        }
        return name
    }

    private static var unauthorised: ChannelProblem {
        ChannelProblem(
            .unauthorised, "No token, or one that does not hold; get one with 'muster-channel token add NAME'.")
    }
}
