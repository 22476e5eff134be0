package import CRDT
import Logging
import Replication
import Storage

/// Work that was passed on under somebody's name and that this one has not signed.
package struct Forgery: Hashable, Sendable {
    /// Who passed it on; nil for the server.
    package let device: DeviceID?
    /// What people call that laptop; empty for the server.
    package let name: String
    /// How often since the daemon started.
    package var count = 1
    /// When it did so last, in milliseconds since 1970.
    package var last: UInt64

    /// Takes a name of any length.
    package init(device: DeviceID?, name: String, count: Int = 1, last: UInt64) {
        self.device = device
        self.name = name
        self.count = count
        self.last = last
    }
}

/// Who passed such work on, for people: a laptop that alters what it relays has been taken over.
extension Replicator {
    /// More laptops are not remembered one by one.
    private static let mostForgers = 64

    /// Since the daemon started, by device.
    package var forgeries: [Forgery] { forgers.values.sorted { ($0.name, $0.last) < ($1.name, $1.last) } }

    /// - Parameter link: nil for the server.
    func noteForgery(by link: LinkID?, _ reason: String, of job: JobID) {
        let peer = link.flatMap { link in mesh.overview().first { $0.link == link }?.peer }
        logger.error(
            "work is refused that its author has not signed",
            metadata: [
                "job": "\(job)", "from": "\(link == nil ? "the server" : peer?.name ?? "")",
                "device": "\(peer?.device.short ?? "")", "reason": "\(reason)",
            ])
        guard link == nil || peer != nil else { return }
        let now = receiveTime.milliseconds
        if forgers[peer?.device] != nil {
            forgers[peer?.device]?.count += 1
            forgers[peer?.device]?.last = now
        } else if forgers.count < Self.mostForgers {
            forgers[peer?.device] = Forgery(device: peer?.device, name: peer?.name ?? "", last: now)
        }
    }
}
