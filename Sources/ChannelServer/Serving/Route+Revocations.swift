import CRDT
import Hummingbird
import Identity
import ServerChannel
import Synchronization

extension Route {
    /// Laptops bring whom the fleet has shut out, and hear it.
    static let shuttingOut = [
        Route(.get, "/v1/revocations") { exchange, service in
            let after = try exchange.query("after")
            guard after.map({ DeviceID($0)?.description == $0 }) ?? true else {
                throw ChannelProblem(.invalidRequest, "'after' is the id of a laptop, 64 digits of 0–9 a–f.")
            }
            let known = service.identity.revocations.withLock { $0.all }
            let page = known.drop { $0.device.description <= after ?? "" }.prefix(ChannelLimits.revocations)
            let isFull = page.count == ChannelLimits.revocations
            return try .json(
                RevocationList(page.map(\.bytes), next: isFull ? page.last.map { "\($0.device)" } : nil))
        },
        Route(.post, "/v1/revocations") { exchange, service in
            let list = try await exchange.json(RevocationList.self)
            guard list.revocations.count <= ChannelLimits.revocations else {
                throw ChannelProblem(
                    .tooLarge, "These are over \(ChannelLimits.revocations) revocations; bring some at a time.")
            }
            return try .json(RevocationList(try await service.identity.learn(list.entries())))
        },
    ]
}
