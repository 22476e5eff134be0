package import CRDT
import Logging
import Replication
import Storage
import Transport

/// Who is on which job.
extension Replicator {
    /// It was said who is on these jobs, by this laptop's person or by the server, and is durable.
    package func assigned(_ jobs: [JobID]) {
        announce(jobs, from: nil)
    }

    func learnAssignments(_ statements: [Assignment], from link: LinkID) async {
        guard let assignments else { return }
        do throws(AssignmentObstacle) {
            try await assignments.learn(statements)
            announce(statements.map(\.job), from: link)
        } catch {
            // Whoever tells it may be no forger: this laptop's own disk may be full.
            if case .unsigned = error, let job = statements.first?.job {
                noteForgery(by: link, error.description, of: job)
            }
            let words = statements.flatMap(\.words)
            if case .notKept = error, !words.contains(where: \.saysWhoReceives) {
                // Nothing of the job goes to anybody else by that. Over the next connection it is told again.
                let reason = error.description
                _ = machine.after(milliseconds: Self.cutoffRetry) { [weak self] in await self?.close(link, reason) }
            } else {
                close(link, error.description)
            }
        }
    }

    /// How long a laptop with a full disk keeps a connection over which it was told what it could not keep, in milliseconds.
    private static let cutoffRetry: UInt64 = 30_000

    /// The laptop may have joined another fleet since it was last connected: there others say who is on a job.
    func noteFleet() async {
        guard let rosters = await assignments?.rostersOfNewFleet() else { return }
        mesh.forgetAssignments()
        announce(rosters.map(\.job), from: nil)
    }

    func access(of device: DeviceID) -> JobAccess {
        assignments?.access(of: device) ?? JobAccess(device)
    }

    func checkHolding(of job: JobID, _ entry: VersionVector.Entry, from link: LinkID) async {
        let found = try? await store.boundary(of: entry.replica, job: job, at: entry.head.sequence)
        guard let found, found.head == entry.head else { return }
        perform(mesh.onHoldingShown(job, on: link))
    }

    /// What is known by now: of what two have brought at once either may come first.
    func announce(_ jobs: [JobID], from link: LinkID?) {
        guard let assignments else { return }
        let changed = Set(jobs).sorted().map { (job: $0, roster: assignments.roster(of: $0)) }
            .filter { mesh.roster(of: $0.job).fingerprint != $0.roster.fingerprint }
        guard !changed.isEmpty else { return }
        perform(mesh.onAssigned(changed, from: link, now: now))
        for (job, roster) in changed {
            logger.info(
                "who is on a job has changed", metadata: ["job": "\(job)", "laptops": "\(roster.devices.count)"])
            if !mesh.vector(of: job).entries.isEmpty { advanced(job, concernsOutbox: false) }
        }
    }
}
