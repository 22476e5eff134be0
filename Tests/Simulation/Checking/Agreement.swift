import CRDT
import Inventory
import Storage

/// The second half of a run: every fault ends, and everybody has to agree in bounded time.
extension World {
    /// Two minutes of virtual time: silences have to be noticed (40 s), failed writes tried again, forks settled.
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
        let deadline = now + Self.patience
        // What is quiet is tidied up, which says something more: agreement has to last.
        var since = now
        while now < deadline, now < since + 8_000_000 {
            try await run(until: now + 1_000_000)
            if !haveConverged { since = now }
        }
    }

    /// Nobody can agree about the future: it has to come first.
    func waitForTheFuture() async throws {
        let latest =
            devices.flatMap { device in
                device.reference.journals.values.flatMap {
                    $0.compactMap { $0.change.map { Int64($0.stamp.milliseconds) * 1_000 } }
                }
            }.max() ?? 0
        let wait = latest - VirtualClock.epoch - now
        guard wait > 0 else { return }
        for device in devices { device.wakesAt = now + wait }
        // A clock that has not met the server for a month is slow by minutes: 200 parts per million.
        try await run(until: now + wait + 60_000_000 + now / 5_000)
        // What has come due makes somebody say something, which the office notes in its turn.
        let deadline = now + Self.patience
        while now < deadline, !haveConverged { try await run(until: now + 1_000_000) }
    }

    var haveConverged: Bool {
        devices.allSatisfy {
            $0.reference.heads == devices[0].reference.heads && $0.rescued == devices[0].rescued
        } && (!hasGateways || office.reference.heads == devices[0].reference.heads)
    }

    /// What has to be true in the end.
    func checkAgreement() async throws {
        guard haveConverged else { throw Violation("liveness", "the vectors still differ.\(difference)") }
        // Nobody has written anything.
        guard !devices[0].reference.heads.isEmpty else { return }
        for device in devices { try await checker.look(at: device, now: now) }
        let first = try await checker.export(of: devices[0])
        let rescued = try await checker.exportsOfRescued(on: devices[0])
        let timeline = try await timeline(of: devices[0])
        for device in devices.dropFirst() {
            guard try await checker.exportsOfRescued(on: device) == rescued else {
                throw Violation("R3", "devices 0 and \(device.index) have made different jobs of late work.")
            }
            guard try await checker.export(of: device) == first else {
                let text = try await difference(devices[0], device)
                throw Violation("R3", "devices 0 and \(device.index) export different bytes: \(text)")
            }
            let other = try await self.timeline(of: device)
            guard other == timeline else {
                let text = timeline.difference(from: other).map { "\($0)" }.joined(separator: "\n")
                throw Violation("R7", "devices 0 and \(device.index) have different timelines:\n\(text)")
            }
        }
        try checkOrder(of: timeline, against: devices[0].reference)
        // What is forgotten somebody remembers to have had.
        let holders: [Holder] = devices + [office]
        let known = holders.reduce(into: Set<String>()) { $0.formUnion($1.reference.marks.keys) }
        for (mark, edit) in checker.acknowledged.sorted(by: { $0.key < $1.key }) where !known.contains(mark) {
            throw Violation("R4", "\(mark) was acknowledged by device \(edit.device) and nobody has it.")
        }
    }

    /// (anchor, stamp, replica, sequence), the server's own entries where they stand in the channel (rule R7). What two copies
    /// of a store wrote at one place with one stamp goes by the journals in which it now stands.
    private func checkOrder(of timeline: [TimelineEntry], against reference: Reference) throws {
        var anchors: [TimelinePlace: UInt64] = [:]
        for entry in reference.journals.values.joined() {
            guard let change = entry.change else { continue }
            let write = change.write(in: entry.replica)
            let place = TimelinePlace(
                author: write.author, dot: Dot(replica: entry.replica, sequence: entry.first), stamp: write.stamp)
            anchors[place] = entry.replica == .channel && change.origin == nil ? entry.first : change.anchor
        }
        var last: (UInt64, UInt64, UInt128, UInt64, UInt128) = (0, 0, 0, 0, 0)
        for key in timeline.map(\.key) {
            let dot = Dot(replica: key.journal, sequence: key.sequence)
            let place = TimelinePlace(author: key.replica, dot: dot, stamp: key.stamp)
            guard let anchor = anchors[place] else { throw Violation("R7", "the timeline shows what nobody wrote.") }
            let stamp = key.replica == .channel ? 0 : key.stamp.rawValue
            let order = (anchor, stamp, key.replica.value, key.sequence, key.journal.value)
            guard last < order else { throw Violation("R7", "the timeline is not in the one order at \(key.stamp).") }
            last = order
        }
    }

    private struct TimelinePlace: Hashable {
        let author: ReplicaID
        let dot: Dot
        let stamp: Stamp
    }

    private func timeline(of device: Device) async throws -> [TimelineEntry] {
        guard !device.reference.heads.isEmpty else { return [] }
        return try await device.store.timeline(of: job, item: nil)
    }

    private func difference(_ first: Device, _ second: Device) async throws -> String {
        let held = [first, second].map { "\($0.index) holds \($0.reference.held.count)" }.joined(separator: ", ")
        let states = try await first.store.items(job: job, limit: .max)
        for item in try await second.store.items(job: job, limit: .max) where !states.contains(item) {
            let other = states.first { $0.id == item.id }
            return "\(item.id), \(held): \(other.map { "\($0.state)" } ?? "nothing") or \(item.state)"
        }
        return "some item is missing, \(held)"
    }

    var difference: String {
        (devices + (hasGateways ? [office] : [])).map { holder in
            let vector = VersionVector(holder.reference.heads.map { VersionVector.Entry(replica: $0, head: $1) })
            let name = holder.store.identity.replica.description.prefix(4)
            return "\n    \(holder) \(name): " + vector.entries.map(\.brief).joined(separator: " ")
        }.joined()
    }
}
