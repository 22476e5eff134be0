import CRDT
import Replication
import Storage
import Timekeeping

/// Laptops come, go, crash, sleep, and have their disks put back or copied.
extension World {
    func power(_ action: Action) async throws {
        switch action {
        case .crash(let device):
            if devices[device].isUp { counters.count(.crash) }
            crash(devices[device])
        case .start(let device, let reboots): try await start(devices[device], reboots: reboots)
        case .backUp(let device):
            let device = devices[device]
            device.backup = Device.Backup(
                contents: try device.store.copy(), references: device.references, replica: device.store.identity.replica
            )
        case .restore(let device, let isNewFile): try await restore(devices[device], isNewFile: isNewFile)
        case .clone(let device, let copy, let isNoticed):
            try await clone(devices[device], to: devices[copy], isNoticed: isNoticed)
        case .join(let device):
            guard !devices[device].hasJoined else { return }
            counters.count(.lateJoin)
            try await join(devices[device])
        case .sleep(let device, let milliseconds):
            guard devices[device].isUp else { return }
            counters.count(.sleep)
            sleep(devices[device], milliseconds)
        case .everybodySleeps(let milliseconds):
            for device in devices where device.isUp { sleep(device, milliseconds) }
            try await run(until: now + Int64(milliseconds) * 1_000)
        case .leave(let device):
            crash(devices[device])
            devices[device].isAway = true
        case .comeBack(let device):
            guard devices[device].isAway else { return }
            counters.count(.month)
            devices[device].isAway = false
            try await start(devices[device], reboots: true)
        default: break
        }
    }

    func join(_ device: Device) async throws {
        device.hasJoined = true
        try await start(device, reboots: false)
    }

    func crash(_ device: Device) {
        guard device.isUp else { return }
        if device.isFreeing { counters.count(.freeingInterrupted) }
        device.isUp = false
        device.incarnation += 1
        device.wakesAt = nil
        for number in network.open(of: device.index) { close(number) }
    }

    func start(_ device: Device, reboots: Bool) async throws {
        guard !device.isUp, device.hasJoined, !device.isAway else { return }
        if reboots {
            counters.count(.reboot)
            let isPlausible = device.time.quality(at: device.clock.elapsed(at: now)).isPlausible
            device.clock.reboot(now: now)
            // What was written in an earlier boot has only the wall clock to be placed by, and somebody has set that, or it was
            // before the floor from which the time went on.
            if device.hasOtherWall || !isPlausible { device.unseen = [:] }
            device.hasOtherWall = false
        }
        device.isUp = true
        // Nor can it know more where a full disk kept it from noting what it knew of the time in this boot.
        let noted = try await device.store.clockRecord()
        if device.hasOtherWall, noted?.boot != device.clock.bootID { device.unseen = [:] }
        try await device.open(device.store.copy(), now: now)
        // The wall clock was before what a server had told: a step from that floor says nothing of the boot before.
        let elapsed = device.clock.elapsed(at: now)
        if reboots, device.time.time(at: elapsed) == device.time.floor(at: elapsed) { device.unseen = [:] }
        record("start", device, UInt64(device.incarnation))
        try await checker.reloaded(device)
        try await begin(device)
    }

    /// What a daemon does by itself after its start.
    private func begin(_ device: Device) async throws {
        add(.dial, after: Int64.random(in: 0...500_000, using: &device.generator), to: device)
        add(.askServer, after: Int64.random(in: 0...2_000_000, using: &device.generator), to: device)
        freeLater(device)
        scheduleTimer(of: device)
        try await startOutbox(of: device)
    }

    private func sleep(_ device: Device, _ milliseconds: UInt64) {
        device.wakesAt = max(device.wakesAt ?? 0, now + Int64(milliseconds) * 1_000)
    }

    /// Puts an older content back, without the store knowing it unless it lies in a new file (rule R9).
    private func restore(_ device: Device, isNewFile: Bool) async throws {
        guard device.isUp, let backup = device.backup else { return }
        crash(device)
        counters.count(.restore)
        if isNewFile { device.file += 1 }
        device.unseen = [:]
        checker.restoring(device, to: backup.references, others: devices + [office])
        // Even a copy that knows what it is holds what may be stamped anew in the original.
        checker.forkable.insert(backup.replica)
        if !isNewFile { device.doubtful = backup.replica }
        device.references = backup.references
        device.isUp = true
        try await device.open(backup.contents, now: now)
        try await checker.reloaded(device)
        try await begin(device)
    }

    private func clone(_ device: Device, to copy: Device, isNoticed: Bool) async throws {
        guard !copy.hasJoined, device.hasJoined else { return }
        counters.count(.clone)
        checker.forkable.insert(device.store.identity.replica)
        if !isNoticed {
            device.doubtful = device.store.identity.replica
            copy.doubtful = device.doubtful
        }
        device.unseen = [:]
        copy.hasJoined = true
        copy.isUp = true
        if !isNoticed {
            copy.machine = device.machine
            copy.file = device.file
        }
        copy.references = device.references
        try await copy.open(device.store.copy(), now: now)
        try await checker.reloaded(copy)
        try await begin(copy)
    }
}
