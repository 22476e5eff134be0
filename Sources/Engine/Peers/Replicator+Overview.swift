package import CRDT
import Logging
package import Replication
import Storage

/// What people are told of the peers.
extension Replicator {
    /// Everything that is known of the peers at one moment.
    package struct PeersOverview: Sendable {
        /// Established ones.
        package let links: [LinkOverview]
        /// The other ends of all.
        package let remotes: [LinkID: Remote]
        /// What is dialled.
        package let targets: [PeerAddress: DialPlan.Target]
    }

    /// Worked out here and handed over whole: a copy of the mesh held elsewhere would make its next change copy it all.
    package func peers() -> PeersOverview {
        PeersOverview(links: mesh.overview(), remotes: remotes, targets: plan.targets)
    }

    /// The peers whose links are established.
    package func connectedPeers() -> [LinkOverview] {
        mesh.overview()
    }

    /// A connected peer, and how far it and this device are apart in a job, in transforms.
    package struct PeerOfJob: Sendable {
        /// Who it is.
        package let peer: Hello
        /// What the peer lacks.
        package let behind: UInt64
        /// What this device lacks.
        package let ahead: UInt64
    }

    /// Every connected peer, beside this device.
    package func peers(of job: JobID) -> [PeerOfJob] {
        mesh.overview().filter { !mesh.isBarred(from: job, $0.link) }.map { link in
            let apart = mesh.apart(link.link, job: job)
            return PeerOfJob(peer: link.peer, behind: apart.behind, ahead: apart.ahead)
        }
    }

    /// Asks every connected device how its copy of a job looks; devices that do not answer in time are left out.
    ///
    /// - Parameter milliseconds: how long they may take.
    package func collectReports(of job: JobID, within milliseconds: UInt64) async -> [LinkID: JobDigestReport] {
        // Who is not on the job is not even told its id.
        let asked = mesh.overview().map(\.link).filter { !mesh.isBarred(from: job, $0) }
        let number = reports.begin(asked)
        for link in asked { links?.send(.reportRequest(job: job, number: number), on: link) }
        let deadline = machine.after(milliseconds: milliseconds) { [weak self] in await self?.endReports(number) }
        defer { deadline.cancel() }
        return await withCheckedContinuation { reports.wait(number, $0) }
    }

    /// Remembers what is known of a peer, for the time when it is away. Nothing waits for it.
    func note(_ last: Farewell) {
        let heard = Heard(device: last.peer.device, name: last.peer.name, at: receiveTime.milliseconds)
        let before = noting
        noting = machine.begin { [store, logger] in
            await before?.value
            do { try await store.note(heard, holding: last.jobs) } catch {
                logger.warning("what a laptop holds could not be noted", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The same for all peers, now and then: the power may go at any time.
    func noteAll() {
        lastNoted = now
        for last in mesh.overview().compactMap({ mesh.farewell($0.link) }) { note(last) }
    }

    /// Returns when all notes are durable.
    package func finishNotes() async { await noting?.value }

    func endReports(_ number: UInt64) {
        reports.end(number)
    }
}
