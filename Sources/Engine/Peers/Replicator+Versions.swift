import CRDT
package import Replication

/// Laptops that speak no version of the protocol that this one speaks: the mesh turns them away, and people are told.
package struct UnfitVersions: Sendable {
    /// Who has not come again for so long has been updated, or has gone; in milliseconds.
    private static let memory: UInt64 = 600_000
    /// More are not remembered.
    private static let most = 64

    private var heard: [DeviceID: (hello: Hello, at: UInt64)] = [:]

    /// Begins without any.
    package init() {}

    /// Somebody has said who it is, and what it speaks.
    package mutating func note(_ hello: Hello, now: UInt64) {
        heard[hello.device] = nil
        heard = heard.filter { now < $0.value.at + Self.memory }
        guard !hello.isUnderstood, heard.count < Self.most else { return }
        heard[hello.device] = (hello, now)
    }

    /// Those of late, by name.
    package func all(now: UInt64) -> [Hello] {
        heard.values.filter { now < $0.at + Self.memory }.map(\.hello)
            .sorted { ($0.name, $0.device) < ($1.name, $1.device) }
    }
}

extension Replicator {
    /// Laptops that have come of late, and were turned away for what they speak.
    package var unfitPeers: [Hello] { unfit.all(now: now) }
}
