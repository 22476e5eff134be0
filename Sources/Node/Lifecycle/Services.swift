import Replication
import ServiceLifecycle
import Transport

/// The transport as a service of the daemon.
struct TransportService: Service {
    let transport: PeerTransport

    func run() async throws {
        await cancelWhenGracefulShutdown { await transport.run() }
    }
}

/// Ends the event streams when the daemon stops, so that the local API can finish.
struct StreamEnder: Service {
    let hub: EventHub

    func run() async throws {
        try? await gracefulShutdown()
        hub.finish()
    }
}

/// Gives systemd its sign of life, but only while the replicator still answers.
struct Watchdog: Service {
    let manager: ServiceManager
    let replicator: Replicator

    func run() async throws {
        guard let interval = manager.watchdogMilliseconds else {
            try? await gracefulShutdown()
            return
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let peers = await replicator.connectedPeers().count
                manager.alive()
                manager.status("\(peers) peers connected")
                try? await Task.sleep(for: .milliseconds(Int(interval / 3)))
            }
        }
    }
}
