import HTTPCoding
import Hummingbird
import HummingbirdCore
import LocalAPI
package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Systemd

/// Serves the local API on a Unix socket until it is told to stop.
///
/// Built on Hummingbird's server rather than its `Application`, which would wake the daemon every second to format the
/// `Date` header.
package struct LocalServer: Service {
    private let file: SocketFile
    private let access: LocalSocket.Access
    private let service: any MusterService
    private let version: String
    let heartbeat: Duration
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onReady: @Sendable () async -> Void

    /// - Parameters:
    ///   - socket: its path has at most 106 bytes; its directory is made if only that is missing.
    ///   - onReady: called once, when callers can connect.
    package init(
        _ socket: LocalSocket, service: any MusterService, version: String = MusterVersion.current,
        heartbeat: Duration = .seconds(15),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger,
        onReady: @escaping @Sendable () async -> Void = {}
    ) {
        file = socket.file
        access = socket.access
        self.service = service
        self.version = version
        self.heartbeat = heartbeat
        self.group = group
        self.logger = logger
        self.onReady = onReady
    }

    /// Returns after a graceful stop, when running requests have been answered and event streams have ended; throws
    /// `APIError` when the socket cannot be had.
    package func run() async throws {
        let lock = try file.prepare()
        defer { lock.release() }
        let responder = LocalResponder(service: service, access: access, version: version, logger: logger)
        let outcome = Outcome()
        let builder = HTTPServerBuilder { ExplainingChannel(HTTP1Channel(responder: $0)) }
        let server = try builder.buildServer(
            configuration: ServerConfiguration(address: .unixDomainSocket(path: file.preparationPath)),
            eventLoopGroup: group,
            logger: quietLogger,
            responder: { request, writer, channel in
                var context = LocalContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                context.heartbeat = heartbeat
                context.caller = await LocalCaller(of: channel)
                let response = await responder.respond(to: request, context: context)
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { channel in
                do {
                    try file.publish()
                    outcome.publish(file.entry)
                    logger.info("local API ready", metadata: ["socket": "\(file.path)"])
                    await onReady()
                } catch {
                    outcome.fail(error)
                    try? await channel.close()
                }
            })
        defer { file.remove(outcome.entry) }
        do { try await server.run() } catch let error as IOError {
            // Nobody could ask it anything: no stop, but a start that failed.
            throw file.failure("make the socket \(file.path)", error.errnoCode)
        }
        try outcome.check()
    }

    /// The library's own start and stop lines are for debugging; ours says the same with the final path.
    private var quietLogger: Logger {
        var quiet = logger
        if quiet.logLevel == .info { quiet.logLevel = .notice }
        return quiet
    }
}

/// What became of the socket's file, told from the server's callback to its caller.
private final class Outcome: Sendable {
    private let state = Mutex<(entry: FileEntry?, failure: (any Error)?)>((nil, nil))

    var entry: FileEntry? { state.withLock { $0.entry } }

    func publish(_ entry: FileEntry?) {
        state.withLock { $0.entry = entry }
    }

    func fail(_ error: any Error) {
        state.withLock { $0.failure = error }
    }

    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}
