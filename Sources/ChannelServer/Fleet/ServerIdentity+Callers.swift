import CRDT
import Identity
import ServerChannel
import Storage
import Synchronization
import Systemd

/// Who is let in, and who was shut out.
extension ServerIdentity {
    /// Judges who asks.
    ///
    /// - Parameters:
    ///   - chain: of a key that the caller has proved, in DER.
    ///   - time: the server's own, in milliseconds since 1970: it is what laptops call the time.
    func member(showing chain: [[UInt8]], at time: UInt64) async throws(FleetTrust.Refusal) -> FleetMember {
        // Without a fleet nobody comes this far by TLS, and a proxy may be there first.
        guard let trust else { throw .otherFleet }
        let member = try await trust.judge(
            chain, now: TimeBounds(Int64(clamping: time), within: 0), revocations: revocations.withLock { $0 })
        guard member.role.isLaptops else { throw .noLaptop }
        return member
    }

    /// Takes what a laptop knows of revocations; from the next look at each caller on they are in force.
    ///
    /// - Returns: those that were news.
    /// - Throws: `ChannelProblem` when there is one among them that nobody of the fleet has signed: then none is taken.
    func learn(_ entries: [[UInt8]]) async throws -> [[UInt8]] {
        guard let trust else { return [] }
        let news: [Revocation]
        do throws(Revocation.Refusal) {
            news = try await revocations.withLock { $0 }.news(in: entries, of: trust)
        } catch {
            throw ChannelProblem(error == .unreadable ? .malformed : .outsider, error.sentence)
        }
        guard !news.isEmpty else { return [] }
        // First on the disk: else a laptop that was told of a failure would find the server's number equal to its own, and tell
        // it no more. (Of two that come at once the later may stand there; then the numbers differ after the next start.)
        try await store.keepRevocations(news.map { ($0.device, $0.bytes) })
        return revocations.withLock { log in news.filter { log.add($0) } }.map(\.bytes)
    }

    /// What was kept, as far as it is of this fleet: the server may have been of another one.
    func readRevocations() async throws {
        var known: [Revocation] = []
        for entry in try await store.revocationEntries() {
            guard let revocation = try? Revocation(entry) else {
                throw StartProblem(.badData, "A revocation in the database cannot be read; put a backup back.")
            }
            if let trust, await revocation.isSigned(in: trust) { known.append(revocation) }
        }
        revocations.withLock { $0 = RevocationLog().adding(known) }
    }
}
