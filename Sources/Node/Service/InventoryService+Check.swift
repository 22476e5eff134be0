import CRDT
import LocalAPI
import Replication
import Storage

/// This device's copy of a job beside everybody else's.
extension InventoryService {
    func check(job text: String) async throws -> JobCheck {
        try await answering {
            let job = try await resolve(job: text)
            let answers = await replicator.collectReports(of: job.id, within: .seconds(10))
            // Taken last: what came in while the others were adding up counts here too.
            let own = try await store.report(of: job.id)
            let devices = await replicator.connectedPeers().map { link in
                compare(answers[link.link], of: link, with: own, in: job)
            }
            return JobCheck(
                job: job.id.text, digest: own.digest, isSame: devices.allSatisfy { $0.outcome == .same },
                devices: devices)
        }
    }

    private func compare(
        _ answer: Replication.JobReport?, of link: LinkOverview, with own: Storage.JobReport, in job: StoredJob
    ) -> DeviceCheck {
        let id = link.peer.device.description
        guard let answer else { return DeviceCheck(deviceID: id, name: link.peer.name, outcome: .unanswered) }
        guard !answer.digest.isEmpty else { return DeviceCheck(deviceID: id, name: link.peer.name, outcome: .absent) }
        let digest = answer.digest.hexadecimalDigits
        return DeviceCheck(
            deviceID: id, name: link.peer.name, outcome: digest == own.digest ? .same : .different, digest: digest,
            missingThere: missing(from: own.vector, in: answer.vector, job: job),
            missingHere: missing(from: answer.vector, in: own.vector, job: job))
    }

    /// What `there` lacks of `here`.
    private func missing(from here: VersionVector, in there: VersionVector, job: StoredJob) -> [MissingRange] {
        here.entries.compactMap { entry in
            let first = there[entry.replica].sequence + 1
            guard first <= entry.head.sequence else { return nil }
            return MissingRange(
                replicaID: entry.replica.description, replicaName: Self.hostName(of: entry.replica, in: job),
                first: first, last: entry.head.sequence)
        }
    }
}
