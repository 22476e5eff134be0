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
        let deadline = now + Self.outboxPatience
        while now < deadline, !isSettled { try await run(until: now + 10_000_000) }
        guard isSettled else {
            let open = devices.filter { !isEmpty($0) }.map { device in
                "\(device): \(device.outbox.queue.map { "\($0.entry.token) \($0.state)" })"
            }
            throw Violation("liveness", "outboxes are not empty: \(open.joined(separator: "; ")).\(difference)")
        }
        try await checker.look(at: office, now: now)
        guard !devices[0].reference.heads.isEmpty else { return }
        let bytes = try await checker.export(of: office)
        guard try await checker.export(of: devices[0]) == bytes else {
            throw Violation("R3", "the office and device 0 export different bytes.")
        }
        try checker.checkChannel(of: office)
        try await checker.checkSettled(office, devices)
    }

    private var isSettled: Bool { haveConverged && devices.allSatisfy(isEmpty) }

    private func isEmpty(_ device: Device) -> Bool {
        device.outbox.queue.allSatisfy { $0.state == .rejected }
    }
}
