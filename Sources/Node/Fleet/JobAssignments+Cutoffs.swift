import CRDT
import Identity
import Logging
import Storage

/// How far the journals of laptops count that are shut out of the fleet.
extension JobAssignments {
    func cutOff(_ devices: Set<DeviceID>) async {
        let revocations = identity.revocations
        do { try await bound(devices.sorted().compactMap { revocations[$0] }) } catch {
            logger.error(
                "what a revoked laptop writes from now on counts: revoke it again ('muster fleet revoke')",
                metadata: ["error": "\(error)", "devices": "\(devices.map(\.short).sorted())"])
        }
    }

    /// Says in each job that is held how far the journals of revoked laptops count, as far as they are held and no farther, unless it
    /// was said before; durable when it returns. A laptop that may say nothing of jobs leaves that to others.
    ///
    /// - Returns: the jobs of which it was said.
    /// - Throws: `StoreError`.
    @discardableResult
    func bound(_ revocations: [Revocation]) async throws -> [JobID] {
        guard let membership = identity.membership, membership.own.role.mayAssign, !identity.isRevoked else {
            return []
        }
        await follow()
        let key = identity.key
        let certificates = identity.certificates(of: key.publicKey)
        // Without a certificate of the key nobody would believe it.
        guard !certificates.isEmpty else { return [] }
        let now = Stamp(milliseconds: UInt64(clamping: identity.time), counter: 0)
        var statements: [Assignment] = []
        for job in try await store.jobs() where !job.isRemoved {
            let known = roster(of: job.id).cutoffs
            for revocation in revocations where known[revocation.device] == nil && revocation.device != identity.device
            {
                let isRevoker = revocation.signer.key == key.publicKey
                let first = JobRoster.firstStamp(revoked: revocation.time, byRevoker: isRevoker)
                let heads = try await store.heads(of: revocation.device, in: job.id).longest(Assignment.mostJournals)
                let cutoff = Assignment.Word.Cutoff(revocation: revocation.bytes, heads: heads)
                let said = membership.trust.assignment(
                    of: job.id, [Assignment.Word(revocation.device, .cutoff(cutoff))],
                    stamp: isRevoker ? first : max(first, now), by: key, certificates: certificates)
                if let said { statements.append(said) }
            }
        }
        try await keep(statements, of: membership.trust.root.key.bytes)
        return Set(statements.map(\.job)).sorted()
    }
}

extension VersionVector {
    /// Of very many names of one laptop those under which it wrote most.
    func longest(_ count: Int) -> VersionVector {
        VersionVector(entries.sorted { $0.head.sequence > $1.head.sequence }.prefix(count))
    }
}
