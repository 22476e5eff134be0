import HummingbirdCore
package import LocalAPI
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

#if canImport(Glibc)
    import Glibc
#endif

/// Answers Prometheus over TCP: `GET /metrics`, and nothing else.
///
/// A port that is taken keeps nobody from working: it is tried again, as the one for laptops is, and the doctor says so.
package struct MetricsServer: Service {
    /// More wait in the kernel's queue, each for as long as one of these may last.
    private static let connections = 16
    private static let firstDelay = Duration.seconds(1)
    private static let longestDelay = Duration.seconds(15)

    private let port: MetricsPort
    private let metrics: @Sendable () async throws -> [Metric]
    private let logger: Logger

    /// - Parameter metrics: what there is to tell.
    package init(
        _ port: MetricsPort, logger: Logger, metrics: @escaping @Sendable () async throws -> [Metric]
    ) {
        self.port = port
        self.logger = logger
        self.metrics = metrics
    }

    /// Returns when the daemon stops; nobody who still asks is waited for.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for place in port.address.places { group.addTask { await serve(at: place) } }
            }
        }
    }

    private func serve(at place: MetricsAddress.Place) async {
        var delay = Self.firstDelay
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                try await listen(at: place)
                delay = Self.firstDelay
            } catch {
                if place.mayBeMissing, !error.isTaken { return }
                if port.failed(place, because: error.reason, remedy: error.remedy) {
                    logger.warning(
                        "no figures can be asked for at this address; trying again",
                        metadata: ["address": "\(port.name(place))", "reason": "\(error.reason)"])
                }
                try? await Task.sleep(for: delay)
                delay = min(delay * 2, Self.longestDelay)
            }
        }
    }

    /// Returns when it is told to stop.
    private func listen(at place: MetricsAddress.Place) async throws(ListenFault) {
        var fault = ListenFault(reason: "no address")
        for host in place.hosts {
            do {
                try await server(at: host, place).run()
                return port.closed(place)
            } catch {
                port.closed(place)
                fault = ListenFault(error)
                if fault.isTaken { break }
            }
        }
        throw fault
    }

    private func server(at host: String, _ place: MetricsAddress.Place) throws -> any Service {
        let responder = MetricsResponder(address: port.address, logger: logger, metrics: metrics)
        return try HTTPServerBuilder { responder in
            BriefChannel(HTTP1Channel(responder: responder))
        }.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port.address.port), backlog: Self.connections,
                availableConnectionsDelegate: .maximum(Self.connections, logger: quietLogger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quietLogger,
            responder: { request, writer, _ in
                let response = await responder.respond(to: request)
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { channel in
                port.opened(place)
                logger.info(
                    "figures for Prometheus",
                    metadata: ["address": "\(MetricsAddress.text(host, channel.localAddress?.port ?? 0))"])
            })
    }

    /// The library's own lines say the same again, and tell of each connection too many, which is anybody's to make.
    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = .critical
        return quiet
    }
}

/// Why an address is not listened on.
private struct ListenFault: Error {
    let reason: String
    /// The address is there, and another program has the port.
    var isTaken = false
    var remedy = "name another address with --metrics"

    init(reason: String) {
        self.reason = reason
    }

    init(_ error: any Error) {
        if let error = error as? SocketAddressError.UnknownHost {
            self.init(reason: error.errorDescription)
            remedy = "see whether the name \(error.host) is right and known here, or name an address with --metrics"
            return
        }
        let code = (error as? IOError)?.errnoCode
        self.init(reason: code.map { String(cString: strerror($0)) } ?? "\(error)")
        isTaken = code == EADDRINUSE
        switch code {
        case EADDRINUSE: remedy = "see what else uses the port (ss -ltnp), or name another one with --metrics"
        case EADDRNOTAVAIL: remedy = "name an address that this machine has (ip address) with --metrics"
        case EACCES: remedy = "ports below 1024 are for root: name a greater one with --metrics"
        default: break
        }
    }
}
