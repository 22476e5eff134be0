import CRDT
import Engine
import HTTPCoding
import Identity
import Inventory
import LocalAPI
import Replication
import Storage

/// This device's copy of a job beside everybody else's.
extension InventoryService {
    func check(job text: String) async throws -> JobCheck {
        try await answering {
            let job = try await resolve(job: text)
            let answers = await replicator.collectReports(of: job.id, within: 10_000)
            // Taken last: what came in while the others were adding up counts here too.
            let own = try await store.digest(of: job.id)
            let links = await replicator.connectedPeers()
            var devices: [DeviceCheck] = []
            for link in links { devices.append(try await compare(answers[link.link], of: link, with: own, in: job)) }
            devices += try await absentLaptops(of: job, connected: links.map(\.peer), holding: own.vector)
            return JobCheck(job: job.id.text, digest: own.text, devices: devices)
        }
    }

    private func compare(
        _ answer: JobDigestReport?, of link: LinkOverview, with own: JobDigest, in job: StoredJob
    ) async throws -> DeviceCheck {
        let id = link.peer.device.description
        guard let answer else { return DeviceCheck(deviceID: id, name: link.peer.name, outcome: .unanswered) }
        guard !answer.digest.isEmpty else { return DeviceCheck(deviceID: id, name: link.peer.name, outcome: .absent) }
        let digest = answer.digest.hexadecimalDigits
        return DeviceCheck(
            deviceID: id, name: link.peer.name, outcome: digest == own.text ? .same : .different, digest: digest,
            missingThere: try await missing(from: own.vector, job: job) { answer.vector[$0].sequence },
            missingHere: missingHere(from: answer.vector, in: own.vector, job: job))
    }

    // MARK: Who is away

    /// Laptops on which somebody has written in the job and that are not connected. One that was revoked does not come back, and is
    /// not waited for.
    private func absentLaptops(
        of job: StoredJob, connected: [Hello], holding vector: VersionVector
    ) async throws -> [DeviceCheck] {
        let met = try await store.heard()
        let present = Set(connected.map(\.device))
        var absent: [DeviceCheck] = []
        let own = try await store.formerReplicas().union([store.identity.replica])
        var names: Set<[UInt8]> = []
        let participants = try await store.participants(of: job.id).filter { !own.contains($0.replica) }
        let devices = try await store.authorDevices()
        let revoked = fleet.revocations
        for participant in participants {
            if let device = devices[participant.replica], revoked.contains(device) { continue }
            guard let name = Self.hostName(of: participant.replica, in: job) else {
                // What it is called has not come yet.
                absent.append(DeviceCheck(deviceID: nil, name: nil, outcome: .away))
                continue
            }
            // Several names of replicas are one laptop that was restored; laptops are told apart by what they are called.
            guard names.insert(Array(name.utf8)).inserted else { continue }
            let laptops = met.filter { $0.name.utf8.elementsEqual(name.utf8) }
            let isHere =
                connected.contains { $0.name.utf8.elementsEqual(name.utf8) }
                || laptops.contains { present.contains($0.device) }
            if laptops.isEmpty, !isHere { absent.append(DeviceCheck(deviceID: nil, name: name, outcome: .away)) }
            for laptop in laptops where !present.contains(laptop.device) && !revoked.contains(laptop.device) {
                let known = try await lastKnown(of: laptop, in: job)
                var away = DeviceCheck(
                    deviceID: laptop.device.description, name: name, outcome: .away,
                    heardAt: Timestamp(milliseconds: Int64(clamping: laptop.at)), isHoldingKnown: known != nil)
                if let known { away.missingThere = try await missing(from: vector, job: job, there: known) }
                absent.append(away)
            }
        }
        return absent
    }

    /// How far a laptop holds each journal, as far as is known: when it was last connected, and what was written on it
    /// since. Nil when nothing is known.
    func lastKnown(of laptop: Heard, in job: StoredJob) async throws -> ((ReplicaID) -> UInt64)? {
        let known = try await store.lastKnown(of: laptop.device, job: job.id)
        guard !known.isEmpty else { return nil }
        return { replica in
            let isItsOwn = Self.hostName(of: replica, in: job)?.utf8.elementsEqual(laptop.name.utf8) ?? false
            return isItsOwn ? job.vector[replica].sequence : known[of: replica]
        }
    }

    // MARK: What is missing

    /// So many items are named of each journal.
    private static let namedItems = 20

    /// What somebody who holds each journal so far lacks of this device's.
    private func missing(
        from here: VersionVector, job: StoredJob, there: (ReplicaID) -> UInt64
    ) async throws -> [MissingRange] {
        var ranges: [MissingRange] = []
        for entry in here.entries {
            let first = there(entry.replica) + 1
            guard first <= entry.head.sequence else { continue }
            let found = try await store.items(
                in: entry.replica, job: job.id, from: first, to: entry.head.sequence, limit: Self.namedItems)
            let labels = try await store.labels(of: Set(found.items.map(\.id)), in: job.id)
            ranges.append(
                MissingRange(
                    replicaID: entry.replica.description, replicaName: Self.hostName(of: entry.replica, in: job),
                    first: first, last: entry.head.sequence,
                    items: found.items.map { MissingItem(id: $0.id.description, name: labels[$0.id]) },
                    itemCount: found.count))
        }
        return ranges
    }

    /// What this device lacks: which items that are, only the other one can tell.
    private func missingHere(from there: VersionVector, in here: VersionVector, job: StoredJob) -> [MissingRange] {
        there.entries.compactMap { entry in
            let first = here[entry.replica].sequence + 1
            guard first <= entry.head.sequence else { return nil }
            return MissingRange(
                replicaID: entry.replica.description, replicaName: Self.hostName(of: entry.replica, in: job),
                first: first, last: entry.head.sequence)
        }
    }
}
