import Dispatch
import Engine
import LocalAPI
import LocalAPIServer
import Logging
import Reloading
import Replication
import ServiceLifecycle
import Storage
import Systemd
import Transport

#if canImport(Glibc)
    import Glibc
#endif

/// The transport as a service of the daemon.
struct TransportService: Service {
    let transport: PeerTransport
    /// The fleet that others have to be of before it listens; nil when it listens from the beginning.
    let fleet: FleetIdentity?

    func run() async throws {
        await cancelWhenGracefulShutdown { await transport.run(while: fleet?.belongings) }
    }
}

/// The descriptions of changes as a service of the daemon.
struct PublisherService: Service {
    let publisher: ChangePublisher

    func run() async throws {
        await cancelWhenGracefulShutdown { await publisher.run() }
    }
}

/// Says that the daemon ends, and ends the event streams, so that the local API can finish.
struct StreamEnder: Service {
    let hub: EventHub
    let tell: @Sendable () -> Void

    func run() async throws {
        try? await gracefulShutdown()
        tell()
        hub.finish()
    }
}

/// Ends the process when the others do not stop.
struct LastResort: Service {
    let logger: Logger
    let reload: ReloadService

    func run() async throws {
        try? await gracefulShutdown()
        // Everything acknowledged is durable: whoever still holds the daemon then is not waited for.
        let (logger, reload) = (logger, reload)
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(3)) {
            logger.warning("a service did not stop within 3 s; ending without it")
            exit(reload.wantsStart ? SystemExit.tryAgain.rawValue : SystemExit.ok.rawValue)
        }
    }
}

/// Gives systemd its sign of life, but only while the event loop, on which the replicator lives, and the store's writer still do what
/// is asked of them: one that stands still takes everything with it.
struct Watchdog: Service {
    let manager: ServiceManager
    let replicator: Replicator
    let store: Store

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await manager.reportLife {
                let peers = await replicator.connectedPeers().count
                await store.waitForWriter()
                return "\(peers) laptop\(peers == 1 ? "" : "s") connected"
            }
        }
    }
}
