import CMalloc
package import Logging
import NIOCore
package import Reloading
import ServiceLifecycle
import Storage
package import Systemd
package import UnixSignals

#if canImport(Glibc)
    import Glibc
#endif

/// The reference server of the channel.
package struct ChannelServer: Sendable {
    private let settings: ServerSettings
    private let logger: Logger
    private let manager: ServiceManager
    private let reload: ReloadService?
    private let onReady: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - manager: whoever runs it as a service, and is told how it is.
    ///   - reload: ends the server to begin anew; nil where nobody changes settings.
    ///   - onReady: called with the port when requests can come.
    package init(
        settings: ServerSettings, logger: Logger, manager: ServiceManager = ServiceManager(environment: [:]),
        reload: ReloadService? = nil, onReady: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.settings = settings
        self.logger = logger
        self.manager = manager
        self.reload = reload
        self.onReady = onReady
    }

    /// Serves until it is told to stop, or to take up other settings; then answers who waits and finishes what it has begun.
    ///
    /// - Parameter signals: what tells it to stop, besides the graceful shutdown of the service group that it is in.
    /// - Throws: `StartProblem` when it cannot start.
    package func run(stoppingOn signals: [UnixSignal]) async throws {
        keepFewArenas()
        raiseFileLimit()
        try DatabaseFile.lock(settings.databasePath)
        let store = try DatabaseFile.open(settings.databasePath, telling: manager)
        if settings.isRecovering {
            logger.warning("takes back what it had said before it was set back; nothing is decided meanwhile")
        } else if store.wasCopied {
            logger.warning(
                "the database was moved or put back; if it is from a backup, serve with --recover first, so that laptops bring what it lacks"
            )
        }
        store.whenPassedOver { [logger] note in
            // Who ends a job tells the server so by itself (`ChannelService.remove`).
            if note is RefusedEnd { return }
            logger.warning("\(type(of: note).sentence)", metadata: note.details.mapValues { "\($0)" })
        }
        let identity = try await ServerIdentity(in: store)
        if identity.trust == nil {
            logger.warning(
                "this server belongs to no fleet, so it takes no connections yet; see 'muster-channel fleet --help'"
            )
        }
        let now = WallClock()
        let hub = ChangeHub()
        let setBack = SetBackJobs()
        let batcher = AcknowledgementBatcher(
            store: store, hub: hub, setBack: setBack, now: now, isResting: settings.isRecovering, logger: logger)
        let service = ChannelService(
            store: store, hub: hub, batcher: batcher, setBack: setBack, identity: identity, now: now,
            isRecovering: settings.isRecovering, logger: logger)
        let doors = Doors(
            responder: ChannelResponder(service: service, logger: logger), settings: settings, logger: logger)
        let http = try doors.forLaptops(as: identity) { [manager, onReady] port in
            manager.ready(SignOfLife.status(of: identity))
            onReady(port)
        }
        var lifecycle = ServiceGroupConfiguration(
            // Stopped in reverse: first those who wait are answered, then the server ends.
            services: [
                .init(service: http), .init(service: Freeing(store: store, logger: logger)),
                .init(service: LateAcceptance(batcher: batcher, logger: logger)),
                .init(service: IdentityWatch(identity: identity, now: now, logger: logger)),
                .init(service: Housekeeping(store: store, logger: logger)),
                .init(service: SignOfLife(manager: manager, store: store, identity: identity)),
                // Whoever hears of a stop waits for an end.
                .init(
                    service: PollEnder(hub: hub) { [manager, reload] in
                        if !(reload?.wantsStart ?? false) { manager.stopping() }
                    }),
            ], gracefulShutdownSignals: signals, logger: logger)
        if let reload {
            lifecycle.services.append(
                .init(service: reload, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        if let path = settings.proxySocket {
            lifecycle.services.insert(.init(service: try doors.forProxy(at: path)), at: 1)
        }
        // What was answered for is durable: who does not let go by then is not waited for.
        lifecycle.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: lifecycle).run()
        await batcher.acceptWaiting()
        // Else everything of a day may stand in the log beside the database, and a copy of the one without the other is
        // empty. (A connection that cannot write is the last one to close, and leaves the log as it is.)
        // In a task of its own: whoever ends the server may have cancelled this one.
        let isTruncated = await Task { (try? await store.truncateLog()) ?? false }.value
        if !isTruncated { logger.warning("somebody reads the database; its log stays beside it") }
        try store.close()
        if !(reload?.wantsStart ?? false) { logger.info("stopped") }
    }

    /// As many connections as the system allows the process.
    private func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// Ends the polls that wait, so that the server can finish.
private struct PollEnder: Service {
    let hub: ChangeHub
    let tell: @Sendable () -> Void

    func run() async throws {
        try? await gracefulShutdown()
        tell()
        hub.finish()
    }
}

/// Says now and then what was uploaded and not accepted: before the server was started, or while its disk was full.
private struct LateAcceptance: Service {
    /// Also at the start: whoever knows that the server was set back has to come first.
    private static let interval = Duration.seconds(60)

    let batcher: AcknowledgementBatcher
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                do {
                    try await batcher.acceptAll()
                } catch {
                    if Task.isCancelled { return }
                    logger.warning("what was uploaded could not be looked at", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}

/// Frees what removed jobs have left, a little at a time.
private struct Freeing: Service {
    private static let interval = Duration.seconds(10)

    let store: Store
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await store.freeRemoved()
                } catch {
                    if Task.isCancelled { return }
                    logger.warning("what a removed job has left could not be freed", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}

/// Gives systemd its sign of life, but only while the store's writer still does what is asked of it.
private struct SignOfLife: Service {
    let manager: ServiceManager
    let store: Store
    let identity: ServerIdentity

    /// How it stands, in one line for people.
    static func status(of identity: ServerIdentity) -> String {
        identity.trust == nil
            ? "in no fleet yet, so no laptop is let in: muster-channel fleet --help" : "serving its fleet"
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await manager.reportLife {
                await store.waitForWriter()
                return Self.status(of: identity)
            }
        }
    }
}
