package import CRDT

/// Who was shut out of the fleet is told before anything else, and has no connection.
extension Mesh {
    /// Why a link with a revoked laptop is closed.
    package static let revokedReason = "The peer's laptop was revoked."

    /// This laptop has come to know of revocations: everybody hears of them, and who is in them is cut off, be it this
    /// laptop itself.
    ///
    /// - Parameters:
    ///   - news: the revocations, as they are passed on.
    ///   - devices: whom they name, and whom those have let in.
    ///   - source: the link that has brought them; nil when they were signed here.
    package mutating func onRevoked(
        _ news: [[UInt8]], of devices: Set<DeviceID>, from source: LinkID?
    ) -> [LinkDirective] {
        var directives: [LinkDirective] = []
        for link in greetedLinks where link != source {
            directives += Message.revocations(of: news).map { .send($0, on: link) }
        }
        let isOwn = devices.contains(device)
        for link in links.values.sorted(by: { $0.id < $1.id }) where isOwn || devices.contains(link.device) {
            directives.append(
                .close(link.id, reason: isOwn ? "This laptop was revoked." : Self.revokedReason))
        }
        return directives
    }

}

extension Message {
    /// As many messages as it takes.
    package static func revocations(of entries: [[UInt8]]) -> [Message] {
        let size = ProtocolLimits.revocationsPerMessage
        return stride(from: 0, to: entries.count, by: size).map { start in
            .revocations(Array(entries[start..<min(start + size, entries.count)]))
        }
    }
}
