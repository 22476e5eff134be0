import Authorship
import CRDT
import Identity
import Outbox
import ServerChannel
import Storage
import Synchronization

/// Whose requests are carried out: whoever delivers one, its author has signed it.
extension ServerIdentity {
    /// Judges who has signed a request, before anybody looks at its token.
    ///
    /// - Returns: why its author may not ask, for good; nil when they may.
    /// - Throws: `ChannelProblem` when it is not that author's, or the author is not known to be of this fleet: they can still ask.
    func objection(to delivery: Delivery) async throws -> String? {
        let request = delivery.request
        guard let name = request.authorName, request.isSigned(for: delivery.job) else {
            throw ChannelProblem(
                .forgedRequest,
                "Who is named as the author of \(request.token) has not signed that; deliver what stands in their journal."
            )
        }
        let device = DeviceID(ofKey: request.signature.key)
        let vouching = try await store.vouching(of: name, told: delivery.author) { await self.isLetIn($0) }
        switch vouching {
        case .vouched(let author):
            guard let role = await role(of: author), role.mayAsk else { return "Who asked may only look." }
            guard role.seesAllJobs || roster(of: delivery.job).includes(device) else {
                return "The laptop that asked (\(device.short)) is not on this job; ask on one that is."
            }
            return nil
        case .unvouched(let author) where await role(of: author) != nil:
            return "The laptop that asked (\(device.short)) was revoked, or who let it in; ask on another one."
        case .unvouched, .unnamed:
            throw ChannelProblem(
                .outsider, "Nobody of this server's fleet has signed it; let the laptop \(device.short) join first.")
        }
    }

    /// Whether the fleet has let a laptop in, and has not shut it out since, nor whoever let it in.
    private func isLetIn(_ author: JournalAuthor) async -> Bool {
        guard let trust, let member = await vouched.member(author, in: trust, now: .since(0)) else { return false }
        return revocations.withLock { log in
            ![member.key, member.issuer].contains { log.contains($0.device) }
        }
    }

    private func role(of author: JournalAuthor) async -> FleetRole? {
        guard let trust else { return nil }
        return await vouched.member(author, in: trust, now: .since(0))?.role
    }
}
