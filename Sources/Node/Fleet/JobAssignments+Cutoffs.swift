import CRDT
import Identity
import Logging
import Storage

/// How far the journals of laptops count that are shut out of the fleet.
extension JobAssignments {
    func cutOff(_ devices: Set<DeviceID>) async {
        do { try await bound(devices) } catch {
            logger.error(
                "what a revoked laptop writes from now on counts: revoke it again",
                metadata: ["error": "\(error)", "devices": "\(devices.map(\.short).sorted())"])
        }
    }

    /// Says in each job that is held how far the journals of some laptops count, the journals that are held and no more, unless it was
    /// said before; durable when it returns. A laptop that may say nothing of jobs leaves that to others.
    ///
    /// - Returns: the jobs of which it was said.
    /// - Throws: `StoreError`.
    @discardableResult
    func bound(_ devices: Set<DeviceID>) async throws -> [JobID] {
        guard let membership = identity.membership, membership.own.role.mayAssign, !identity.isRevoked else {
            return []
        }
        await follow()
        let key = identity.key
        let certificates = identity.certificates(of: key.publicKey)
        // Without a certificate of the key nobody would believe it.
        guard !certificates.isEmpty else { return [] }
        let now = UInt64(clamping: identity.time)
        var statements: [Assignment] = []
        for job in try await store.jobs() where !job.isRemoved {
            let cutoffs = roster(of: job.id).cutoffs
            for device in devices.sorted() where cutoffs[device] == nil && device != identity.device {
                let heads = try await store.heads(of: device, in: job.id).newest(Assignment.mostJournals)
                let said = membership.trust.assignment(
                    of: job.id, [Assignment.Word(device, .cutoff(heads))],
                    stamp: JobRoster().nextStamp(now: now, about: []), by: key, certificates: certificates)
                if let said { statements.append(said) }
            }
        }
        try await keep(statements, of: membership.trust.root.key.bytes)
        return Set(statements.map(\.job)).sorted()
    }
}

extension VersionVector {
    /// Of very many names of one laptop those under which it wrote most.
    fileprivate func newest(_ count: Int) -> VersionVector {
        VersionVector(entries.sorted { $0.head.sequence > $1.head.sequence }.prefix(count))
    }
}
