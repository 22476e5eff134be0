import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Systemd

#if canImport(Glibc)
    import Glibc
#endif

/// Where the server is connected to: by laptops, and by a proxy in front of it.
struct Doors: Sendable {
    /// More wait in the kernel's queue.
    private static let connections = 10_000
    private static let idle = TimeAmount.seconds(120)

    let responder: ChannelResponder
    let settings: ServerSettings
    let logger: Logger

    /// TLS, on which both sides prove who they are.
    ///
    /// - Parameter onReady: called with the port when requests can come.
    func forLaptops(
        as identity: ServerIdentity, onReady: @escaping @Sendable (Int) -> Void
    ) throws -> any Service {
        let (settings, logger) = (settings, logger)
        // Anybody can fail at a handshake, from many addresses; that takes no place from what members bring.
        let refusals = RefusalLog(logger: logger, most: 64)
        let http = HTTP1Channel.Configuration(idleTimeout: Self.idle)
        let server = try HTTPServerBuilder { responder in
            FleetChannel(
                HTTP1Channel(responder: responder, configuration: http), identity: identity, refusals: refusals)
        }.buildServer(
            configuration: configuration(at: .hostname(settings.host, port: settings.port)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quietLogger,
            responder: answering { _, channel in await ShownCertificates.chain(on: channel) },
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? settings.port
                logger.info(
                    "serving",
                    metadata: ["listen": "\(settings.host):\(port)", "database": "\(settings.databasePath)"])
                onReady(port)
            })
        return Door(server: server) { reason in
            settings.cannotListen(reason)
        }
    }

    /// A Unix socket that its group may open, on which a proxy says who asks.
    func forProxy(at path: String) throws -> any Service {
        // The database is this process's alone, so nobody else serves at the socket that stands beside it. It gets its name
        // when its mode is right: nobody else connects before.
        let unnamed = ServerSettings.unnamed(path)
        try ServerSettings.checkProxySocket(path)
        unlink(unnamed)
        let (file, logger) = (PublishedFile(path), logger)
        let server = try HTTPServerBuilder.http1(configuration: .init(idleTimeout: Self.idle)).buildServer(
            configuration: configuration(at: .unixDomainSocket(path: unnamed)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quietLogger,
            responder: answering { request, _ in ProxyHeaders.chain(in: request.headers) },
            onServerRunning: { channel in
                guard file.publish(unnamed) else { return channel.close(promise: nil) }
                logger.info("serving a proxy", metadata: ["socket": "\(path)"])
            })
        return Door(server: server, file: file) { reason in
            ServerSettings.cannotMakeSocket(path, reason)
        }
    }

    private func configuration(at address: BindAddress) -> ServerConfiguration {
        ServerConfiguration(
            address: address, backlog: 1_024,
            availableConnectionsDelegate: .maximum(Self.connections, logger: quietLogger))
    }

    /// - Parameter chain: what the caller has proved a key of.
    private func answering(
        _ chain: @escaping @Sendable (Request, any Channel) async -> [[UInt8]]
    ) -> HTTPChannelHandler.Responder {
        let (responder, logger) = (responder, logger)
        return { request, writer, channel in
            var context = ChannelContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            context.chain = await chain(request, channel)
            defer { context.permit.end() }
            let response = await responder.respond(to: request, context: context)
            try await writer.write(response: response.head, body: response.body)
        }
    }

    /// The library's own lines say the same again.
    private var quietLogger: Logger {
        var quiet = logger
        if quiet.logLevel == .info { quiet.logLevel = .notice }
        return quiet
    }
}

/// A server that says in its own words why it cannot be had.
private struct Door: Service {
    let server: any Service
    var file: PublishedFile?
    let problem: @Sendable (String) -> StartProblem

    func run() async throws {
        defer { file?.remove() }
        do { try await server.run() } catch let error as IOError {
            throw problem(String(cString: strerror(error.errnoCode)))
        }
        if let reason = file?.failure { throw problem(reason) }
    }
}

/// The file of a socket, which gets its name in a callback of the library and loses it when the server ends.
private final class PublishedFile: Sendable {
    private let path: String
    private let state = Mutex<(entry: FileEntry?, failure: String?)>((nil, nil))

    init(_ path: String) {
        self.path = path
    }

    /// Why it has no name.
    var failure: String? { state.withLock { $0.failure } }

    /// - Returns: whether it has its name.
    func publish(_ unnamed: String) -> Bool {
        state.withLock { state in
            guard chmod(unnamed, 0o660) == 0, rename(unnamed, path) == 0 else {
                state.failure = String(cString: strerror(errno))
                return false
            }
            state.entry = FileEntry(path)
            return true
        }
    }

    /// Unless another server's stands there by now.
    func remove() {
        state.withLock { state in
            if let known = state.entry, known == FileEntry(path) { unlink(path) }
        }
    }
}
