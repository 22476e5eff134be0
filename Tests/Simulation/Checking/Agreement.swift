import CRDT
import Inventory
import Replication
import Storage

/// The second half of a run: every fault ends, and everybody has to agree in bounded time.
extension World {
    /// Four minutes of virtual time: silences have to be noticed (40 s), failed writes tried again, forks settled.
    static let patience: Int64 = 240_000_000

    func heal() async throws {
        isCalm = true
        for first in devices {
            for second in devices where second.index < first.index { heal(first.index, second.index) }
        }
        // Who sleeps wakes up by itself, and finds what waited for it in its order.
        try await run(until: devices.compactMap(\.wakesAt).max() ?? now)
        for device in devices {
            device.lieMilliseconds = 0
            device.isAway = false
            if device.isDiskFull { setDiskFull(false, device) }
            if !device.hasJoined { try await join(device) } else { try await start(device, reboots: false) }
        }
        try await healOffice()
        try await waitForAgreement()
    }

    /// What is quiet is tidied up, which says something more: agreement has to last.
    func waitForAgreement() async throws {
        var deadline = now + Self.patience
        var since = now
        while now < deadline, now < since + 8_000_000 {
            try await run(until: now + 1_000_000)
            if !haveConverged { since = now }
            // A second renewal within ten minutes waits for its time (rule R9); nothing else may take so long.
            for wait in devices.compactMap(renewalWait) { deadline = max(deadline, now + wait + Self.patience) }
        }
    }

    /// How long a device has yet to bear a name that is in doubt, in microseconds.
    private func renewalWait(of device: Device) -> Int64? {
        guard let due = device.mesh.renewalDue else { return nil }
        let elapsed = device.elapsedMilliseconds(at: now)
        return due > elapsed ? Int64(due - elapsed) * 1_000 : nil
    }

    var haveConverged: Bool {
        let holders: [Holder] = devices + (hasGateways ? [office] : [])
        return holders.allSatisfy { $0.holdings == devices[0].holdings }
    }

    /// What has to be true in the end, on every device: not only that all have the same.
    func checkAgreement() async throws {
        guard haveConverged else { throw Violation("liveness", "the vectors still differ.\(difference)") }
        for device in devices {
            try await checker.checkHistory(of: device)
            try await checker.lookAtAll(of: device, isDeep: true)
        }
        try await checkEquality()
        for device in devices { try await checker.checkAcknowledged(on: device) }
    }

    private func checkEquality() async throws {
        for job in devices[0].jobs {
            let first = try await checker.export(of: devices[0], job)
            let isRemoved = devices[0][job].isRemoved
            let timeline = isRemoved ? [] : try await devices[0].store.timeline(of: job, item: nil).rest()
            for device in devices.dropFirst() {
                guard try await checker.export(of: device, job) == first else {
                    let text = try await difference(devices[0], device, job)
                    throw Violation("R3", "devices 0 and \(device.index) export different bytes: \(text)")
                }
                let other = isRemoved ? [] : try await device.store.timeline(of: job, item: nil).rest()
                guard other == timeline else {
                    let text = timeline.difference(from: other).map { "\($0)" }.joined(separator: "\n")
                    throw Violation("R7", "devices 0 and \(device.index) have different timelines:\n\(text)")
                }
            }
        }
    }

    private func difference(_ first: Device, _ second: Device, _ job: JobID) async throws -> String {
        let states = try await first.store.items(job: job, limit: .max)
        for item in try await second.store.items(job: job, limit: .max) where !states.contains(item) {
            let other = states.first { $0.id == item.id }
            return "\(item.id): \(other.map { "\($0.state)" } ?? "nothing") or \(item.state)"
        }
        return "some item is missing"
    }

    var difference: String {
        let holders: [Holder] = devices + (hasGateways ? [office] : [])
        return holders.map { holder in
            let name = holder.store.identity.replica.description.prefix(4)
            let jobs = holder.jobs.map { job in
                let end = holder[job].isRemoved ? ", removed up to \(holder[job].removal.brief)" : ""
                return "\n        \(brief(job)): \(holder[job].vector.brief)\(end)"
            }
            return "\n    \(holder) \(name):" + jobs.joined()
        }.joined()
    }
}

extension Holder {
    /// What has to be the same everywhere in the end.
    var holdings: [JobID: [VersionVector]] {
        references.filter { !$0.value.isEmpty }.mapValues { [$0.vector, $0.removal] }
    }
}

extension Reference {
    /// What all removers held together.
    var removal: VersionVector {
        let named = Set(removals.flatMap { $0.heads.entries.map(\.replica) })
        return VersionVector(named.map { VersionVector.Entry(replica: $0, head: removed(of: $0)) })
    }
}
