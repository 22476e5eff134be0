import CRDT
import Engine
import Identity
import Logging
import Replication
import ServerChannel
import ServiceLifecycle
import Transport
import WireFormat

/// Keeps this laptop's certificate alive: from half-way on it asks everybody in reach for a new one, since any issuer may
/// give it, also long after the old one has run out; and where nobody does, the server for more of the old one.
struct Renewer: Service {
    /// How often is looked whether it is time, in milliseconds: soon after a start, when the clock is learned, then seldom.
    private static let firstLook: UInt64 = 1_000
    private static let longestLook: UInt64 = 60_000
    /// When it is time, new addresses are asked at once, and the same ones again after a while that doubles.
    private static let look: UInt64 = 5_000
    private static let firstPause: UInt64 = 10_000
    private static let longestPause: UInt64 = 3_600_000
    private static let answerLimit: Duration = .seconds(10)

    let fleet: FleetIdentity
    let transport: PeerTransport
    let replicator: Replicator
    let machine: any Machine
    /// Nil for a laptop without.
    let server: (client: ChannelClient, gateway: Gateway)?
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var nextLook = Self.firstLook
            var pause = Self.firstPause
            var asked = InReach()
            var next: UInt64 = 0
            while !Task.isCancelled {
                let wait = fleet.untilRenewal ?? .max
                if wait > 0 {
                    // The clock may step, and a laptop may join: it is looked at again before long.
                    try? await machine.sleep(milliseconds: min(UInt64(wait), nextLook))
                    nextLook = min(nextLook * 2, Self.longestLook)
                    (pause, asked) = (Self.firstPause, InReach())
                    continue
                }
                let inReach = InReach(
                    peers: await replicator.knownAddresses(),
                    server: await server?.gateway.standing.isThere ?? false)
                if inReach != asked || machine.elapsedMilliseconds >= next {
                    (pause, asked) = (min(pause * 2, Self.longestPause), inReach)
                    await renew(at: inReach.peers)
                    next = machine.elapsedMilliseconds + pause
                }
                try? await machine.sleep(milliseconds: Self.look)
            }
        }
    }

    private func renew(at addresses: [PeerAddress]) async {
        do {
            if try await fleet.renewOwn() { return }
            for address in addresses {
                guard let certificates = try? await ask(at: address) else { continue }
                try await fleet.installRenewed(certificates)
                logger.info("this laptop's certificate was renewed", metadata: ["at": "\(address)"])
                return
            }
            if case .answer(let certificates) = await server?.client.renewal(),
                try await fleet.installProlonged(certificates)
            {
                logger.info("this laptop's certificate was renewed", metadata: ["at": "the server"])
            }
        } catch {
            logger.warning("this laptop's certificate could not be renewed", metadata: ["error": "\(error)"])
        }
    }

    private func ask(at address: PeerAddress) async throws -> [FleetCertificate]? {
        guard let credentials = fleet.credentials else { return nil }
        let connection = try await transport.enrolmentDialler.dial(
            address, showing: credentials, accepts: { await fleet.isOfFleet($0) })
        defer { connection.close() }
        connection.send(.renewal)
        guard case .certificates(let certificates)? = await connection.next(within: Self.answerLimit) else {
            return nil
        }
        return try certificates.map { try FleetCertificate($0) }
    }
}

/// Whom a laptop can ask for a new certificate.
private struct InReach: Equatable {
    var peers: [PeerAddress] = []
    /// It has answered the last time.
    var server = false
}
