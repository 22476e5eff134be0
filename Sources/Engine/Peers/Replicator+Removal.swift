package import CRDT
import Logging
import Replication
package import Storage

/// What the mesh has to know at the start.
package struct KnownHoldings: Sendable {
    let jobs: [(job: JobID, vector: VersionVector)]
    let removals: [(job: JobID, removal: JobRemoval)]
    let authors: [ReplicaID: DeviceID]

    package init(
        jobs: [(job: JobID, vector: VersionVector)], removals: [(job: JobID, removal: JobRemoval)],
        authors: [ReplicaID: DeviceID] = [:]
    ) {
        self.authors = authors
        self.jobs = jobs
        self.removals = removals
    }
}

/// Jobs end (rule R10).
extension Replicator {
    /// A person has removed a job here, durably.
    package func jobRemoved(_ removed: RemovedJob) async {
        await jobEnded(removed.commit.job, removed.outcome)
    }

    /// A peer, or the server, has told of the end of a job.
    ///
    /// - Parameter link: the peer's; nil for the server, which is believed.
    /// - Returns: whether that is durable.
    @discardableResult
    func takeRemoval(_ removal: JobRemoval, of job: JobID, from link: LinkID? = nil) async -> Bool {
        var generator = machine.generator
        let name = mesh.replica
        do {
            if let link, try await store.showsOwnFuture(removal, of: job) {
                if let renewal = mesh.onOwnFutureRemoved(link, of: name, now: now) { await perform(renewal) }
                scheduleTimer()
                // Nothing of it is stored under a name that this store keeps.
                if try await store.showsOwnFuture(removal, of: job) { return false }
            }
            let outcome = try await store.takeRemoval(removal, of: job, now: receiveTime, using: &generator)
            // What a step had shifted may have gone with the job, or stand under another name.
            await untilStepIsTold()
            perform(noteRenewal())
            await jobEnded(job, outcome)
            return true
        } catch {
            logger.error("a job could not be removed", metadata: ["job": "\(job)", "error": "\(error)"])
            perform(noteRenewal())
            return false
        }
    }

    func noteRefusedEnd(of job: JobID, from link: LinkID) {
        guard let peer = remotes[link]?.peer else { return }
        logger.warning(
            "\(RefusedEnd.sentence)",
            metadata: ["job": "\(job)", "from": "\(peer.name)", "device": "\(peer.device.short)"])
    }

    func jobEnded(_ job: JobID, _ outcome: RemovalOutcome) async {
        // What was committed before is told of before: told later, it would stand in a job that has ended.
        await tellCommitted()
        logger.notice(
            "a job was removed",
            metadata: [
                "job": "\(job)", "name": "\(outcome.removal.name)", "reissued": "\(outcome.reissued != nil)",
            ])
        perform(
            mesh.onJobRemoved(
                outcome.removal, of: job, vector: outcome.vector, replaced: outcome.replaced, order: outcome.order,
                now: now))
        advanced(job)
    }
}
