import CRDT
import Inventory
import Replication
import Storage

/// What people and accidents do.
extension World {
    func take(_ step: Step) async throws {
        narrate?("\(now) STEP \(step.action)")
        switch step.action {
        case .edit(let device, let wishes): try await edit(devices[device], wishes)
        case .editTogether(let device, let edits): try await editTogether(devices[device], edits)
        case .bulk(let device, let job, let first, let count):
            try await bulk(devices[device], job: job, first: first, count: count)
        case .crowd(let device, let job, let count): try await crowd(devices[device], jobs[job], count)
        case .congest(let first, let second, let isCongested):
            try await congest(devices[first], second, isCongested: isCongested)
        case .cut(let first, let second, let isOneWay, let breaks):
            cut(first, second, isOneWay: isOneWay, breaks: breaks)
        case .heal(let first, let second): heal(first, second)
        case .breakConnection(let first, let second):
            for number in network.open(between: first, second) {
                counters.count(.brokenConnection)
                close(number)
            }
        case .fillDisk(let device): setDiskFull(true, devices[device])
        case .freeDisk(let device): setDiskFull(false, devices[device])
        case .setWallClock(let device, let milliseconds):
            counters.count(.wallJump)
            devices[device].hasOtherWall = true
            devices[device].clock.jumpWall(by: milliseconds * 1_000)
        case .reachServer(let device, let reaches): try await setRoute(of: devices[device], isUp: reaches)
        case .serverEntry: try await officeEntry()
        case .ask(let device, let job): try await ask(about: jobs[job], by: devices[device])
        case .signOff(let device, let job, let isForgery):
            try await signOff(jobs[job], by: devices[device], isForgery: isForgery)
        case .drop(let device): try await drop(by: devices[device])
        case .office(let action): try await take(action)
        case .lie(let device, let milliseconds): devices[device].lieMilliseconds = milliseconds
        case .removeJob(let device, let job): try await removeJob(jobs[job], by: devices[device])
        case .decideLate(let device, let accepts): try await decideLate(by: devices[device], accepts: accepts)
        case .garble(let device, let other, let garbage): try await garble(devices[device], other, garbage)
        case .crash, .start, .backUp, .restore, .clone, .join, .sleep, .everybodySleeps, .leave, .comeBack:
            try await power(step.action)
        }
    }

    // MARK: The network

    private func cut(_ first: Int, _ second: Int, isOneWay: Bool, breaks: Bool) {
        let isNew = network.cut(first, second)
        if isOneWay {
            if isNew { counters.count(.oneWayPartition) }
        } else if network.cut(second, first) || isNew {
            counters.count(.partition)
        }
        if breaks { for number in network.open(between: first, second) { close(number) } }
    }

    /// What hung is delivered now, as TCP sends it again.
    func heal(_ first: Int, _ second: Int) {
        for (from, to) in [(first, second), (second, first)] where network.heal(from, to) {
            counters.count(.heal)
            for number in network.open(between: first, second) {
                guard let connection = network.connections[number] else { continue }
                for side in 0...1 where connection.ends[side].device == to {
                    let place = Network.Place(connection: number, side: side)
                    for message in network.takeStalled(towards: place) {
                        deliver(message, towards: place, from: from, to: to)
                    }
                }
            }
        }
    }

    /// The way to a peer is full, or has room again: every link between the two.
    private func congest(_ device: Device, _ other: Int, isCongested: Bool) async throws {
        // Who sleeps writes nothing that could fill it; what it would hear of that comes after the way has room again.
        guard device.isUp, device.wakesAt ?? 0 <= now else { return }
        for number in network.open(between: device.index, other) {
            guard let end = network.connections[number]?.ends.first(where: { $0.device == device.index }) else {
                continue
            }
            counters.count(.congestion)
            add(.congestion(end.link, isCongested), after: 0, to: device)
            // A way is never full for ever.
            if isCongested { add(.congestion(end.link, false), after: 20_000_000, to: device) }
        }
    }

    // MARK: Disks and liars

    func setDiskFull(_ isFull: Bool, _ device: Device) {
        if isFull { counters.count(.fullDisk) }
        device.isDiskFull = isFull
        device.store.setDiskFull(isFull)
    }

    /// A piece of journal that is none, in the place of the next that `device` would send.
    private func garble(_ device: Device, _ other: Int, _ garbage: Garbage) async throws {
        guard device.isUp, let number = network.open(between: device.index, other).first,
            let connection = network.connections[number],
            let entry = device.mesh.vector(of: jobs[0]).entries.first,
            let segment = try await device.store.segment(
                of: entry.replica, job: jobs[0], from: entry.head.sequence, maximumBytes: 1)
        else { return }
        counters.count(.malformedDelta)
        let side = connection.ends[0].device == other ? 0 : 1
        deliver(
            .delta(job: jobs[0], garbage.applied(to: segment), pushed: true),
            towards: Network.Place(connection: number, side: side), from: device.index, to: other)
    }
}

extension Garbage {
    /// Claims to continue the journal, one transform further, with something that does not.
    func applied(to segment: JournalSegment) -> JournalSegment {
        let next = segment.head.sequence + 1
        let false_ = JournalHead(sequence: next, digest: segment.head.digest ^ 0xbad)
        switch self {
        case .bytes:
            return JournalSegment(
                replica: segment.replica, first: next, head: false_, bytes: [UInt8](repeating: 0xff, count: 20))
        case .digest: return JournalSegment(replica: segment.replica, first: next, head: false_, bytes: segment.bytes)
        case .gap:
            return JournalSegment(
                replica: segment.replica, first: next + 5,
                head: JournalHead(sequence: next + 5, digest: segment.head.digest ^ 0xbad), bytes: segment.bytes)
        case .truncation:
            return JournalSegment(
                replica: segment.replica, first: next, head: false_, bytes: segment.bytes.dropLast(3))
        }
    }
}
