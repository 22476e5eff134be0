import CRDT
import Outbox

/// The end of a run, as far as the office is concerned.
extension World {
    /// Longer than the longest waits that follow each other: back-off, Retry-After, confirmation.
    private static let outboxPatience: Int64 = 3 * 3_600_000_000

    func healOffice() async throws {
        guard hasGateways else { return }
        office.illUntil = 0
        if office.isDiskFull { fillDiskOfOffice(false) }
        if !devices.contains(where: \.reachesServer) { try await setRoute(of: devices[0], isUp: true) }
    }

    /// Everything that people asked for comes to the office, once and in order, and what came of it to everybody.
    func checkOffice() async throws {
        guard hasGateways else { return }
        // What was asked for in a job that has ended is passed on to nobody: its laptop has to reach the office itself.
        for device in devices where device.outbox.queue.contains(where: { device[$0.entry.job].isRemoved }) {
            if !device.reachesServer { try await setRoute(of: device, isUp: true) }
        }
        let deadline = now + Self.outboxPatience
        while now < deadline, !isSettled { try await run(until: now + 10_000_000) }
        guard isSettled else {
            let open = devices.filter { !isEmpty($0) }.map { device in
                "\(device): \(device.outbox.queue.map { "\($0.entry.token) \($0.state)" })"
            }
            throw Violation("liveness", "outboxes are not empty: \(open.joined(separator: "; ")).\(difference)")
        }
        for job in office.jobs {
            try await checker.look(at: office, job, isDeep: true)
            try checker.checkChannel(of: office, job)
            try await checker.checkSettled(office, devices, job)
            let bytes = try await checker.export(of: office, job)
            guard try await checker.export(of: devices[0], job) == bytes else {
                throw Violation("R3", "the office and device 0 export different bytes.")
            }
        }
        for device in devices { try await checker.checkQueue(of: device) }
    }

    private var isSettled: Bool { haveConverged && devices.allSatisfy(isEmpty) }

    private func isEmpty(_ device: Device) -> Bool {
        device.outbox.queue.allSatisfy { $0.state == .rejected }
    }
}
