import FoundationEssentials
import LocalAPI
import LocalAPIServer
import Logging
import ServiceLifecycle

/// Runs the body with a real server of the local API on a socket of its own, and stops it gracefully.
///
/// - Parameter ender: stops before that server does.
func withDaemon<Value: Sendable>(
    _ service: some MusterService, at path: String? = nil, access: LocalSocket.Access = .all,
    endedBy ender: (any Service)? = nil, heartbeat: Duration = .seconds(15),
    _ body: @Sendable (String) async throws -> Value
) async throws -> Value {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = path ?? directory.path + "/m.sock"
    let (ready, continuation) = AsyncStream<Void>.makeStream()
    let server = LocalServer(
        LocalSocket(path: path, access: access), service: service, heartbeat: heartbeat,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        onReady: { continuation.finish() })
    let group = ServiceGroup(
        services: [server] + [ender].compactMap(\.self),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            defer { continuation.finish() }
            try await group.run()
        }
        for await _ in ready {}
        do {
            let value = try await body(path)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return value
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
    }
}

/// A mistake in the daemon, of which no caller may see more than that there is one.
struct Fault: Error {}

/// A directory with a short path, as sockets need; it goes when nobody holds it any more, or before, by `remove`.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = "/tmp/muster-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
