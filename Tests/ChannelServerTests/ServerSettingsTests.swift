import CRDT
import Foundation
import Logging
import Storage
import Systemd
import Testing

@testable import ChannelServer

@Suite("What a server is told, and what of it can be used", .timeLimit(.minutes(1)))
struct ServerSettingsTests {
    private func problem(_ settings: ServerSettings, insteadOf former: ServerSettings? = nil) -> StartProblem? {
        do throws(StartProblem) { try settings.check(insteadOf: former) } catch { return error }
        return nil
    }

    private func problem(listen: String? = nil, database: String? = "/srv/c.sqlite") -> StartProblem? {
        do throws(StartProblem) {
            _ = try ServerSettings(
                listen: listen, from: "MUSTER_CHANNEL_LISTEN in FILE", database: database, environment: [:])
        } catch { return error }
        return nil
    }

    @Test(
        "What is no address is refused where it stands, with what to write",
        arguments: [
            "a b:80", "999.0.0.1:80", "10.1:80", "127.0.0.1:74800", "127.0.0.1:+80", "127.0.0.1", ":80", "[office]:80",
            "::1:80", "",
        ])
    func wrongAddress(text: String) {
        let problem = problem(listen: text)
        #expect(problem?.kind == .usage)
        #expect(problem?.sentence.hasPrefix("MUSTER_CHANNEL_LISTEN in FILE: '\(text)' is no address") == true)
        #expect(problem?.sentence.contains("write HOST:PORT") == true)
    }

    @Test(
        "An address may be a name, every one, and of IPv6",
        arguments: ["*:7480", "office:0", "[::1]:7480", "10.0.0.5:1"])
    func address(text: String) {
        #expect(problem(listen: text) == nil)
    }

    @Test("A path that only a shell could read, and none, are refused", arguments: ["~/c.sqlite", "~", ""])
    func path(text: String) throws {
        #expect(problem(database: text)?.sentence.hasPrefix("--database") == true)
        let isRefused = #expect(throws: StartProblem.self) { try ServerSettings.checkProxySocket(text) }
        #expect(isRefused?.sentence.hasPrefix("--proxy-socket") == true)
    }

    @Test("A database that a server could not serve from is refused in the server's words, and left as it is")
    func databases() async throws {
        let directory = NSTemporaryDirectory() + "muster-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let (text, empty, laptop) = (directory + "/text", directory + "/empty", directory + "/laptop")
        try String(repeating: "precious ", count: 1_000).write(toFile: text, atomically: true, encoding: .utf8)
        try Data().write(to: URL(filePath: empty))
        var generator = SeededGenerator(seed: 7)
        try Store.open(
            path: laptop, machine: "m", hostName: "anna", upgrade: StoreUpgrade(program: "1"), generator: &generator
        ).close()
        func said(_ path: String) throws -> StartProblem? {
            problem(try ServerSettings(listen: nil, database: path, environment: [:]))
        }
        for (path, kind, words) in [
            (directory, 64, "is a directory"), (directory + "/new/", 64, "is a directory"),
            (text + "/below", 64, "cannot be"), ("/dev/null", 64, "is no file"), (text, 65, "is no database"),
            (laptop, 65, "is a laptop's store"),
        ] as [(String, Int32, String)] {
            let problem = try said(path)
            #expect(
                problem?.kind.rawValue == kind && problem?.sentence.contains(words) == true, "\(path) \(problem as Any)"
            )
            #expect(problem?.sentence.contains("--database") == true)
            for word in ["state directory", "peers", "MUSTER_STATE"] {
                #expect(problem?.sentence.contains(word) == false, "\(problem?.sentence ?? "")")
            }
        }
        // What the store has found by itself says what to do; another database would not bring back what is in the log.
        let emptied = directory + "/emptied"
        for suffix in ["", "-wal"] { try Data(suffix.utf8).write(to: URL(filePath: emptied + suffix)) }
        let lost = try said(emptied)
        #expect(lost?.kind.rawValue == 65 && lost?.sentence.hasPrefix("The store \(emptied) is empty, and ") == true)
        #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("precious"))
        #expect(try said(empty) == nil && said(directory + "/new/deep/c.sqlite") == nil)
        #expect(!FileManager.default.fileExists(atPath: directory + "/new"), "nothing is made")
    }

    @Test("Settings that are taken up while a server runs keep its database")
    func otherDatabase() throws {
        let directory = NSTemporaryDirectory()
        let former = try ServerSettings(listen: nil, database: directory + "a.sqlite", environment: [:])
        var other = former
        other.databasePath = directory + "b.sqlite"
        #expect(problem(other) == nil && problem(former, insteadOf: former) == nil)
        #expect(problem(other, insteadOf: former)?.sentence.contains("restart the server to serve from") == true)
    }

    @Test("What was refused to a task for it was told to stop is no fault of the store")
    func cancelled() async throws {
        let directory = NSTemporaryDirectory() + "muster-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try DatabaseFile.open(directory + "/channel.sqlite")
        let identity = try await ServerIdentity(in: store)
        let (warnings, told) = AsyncStream<Void>.makeStream()
        let watch = IdentityWatch(
            identity: identity, now: WallClock(), logger: Logger(label: "test") { _ in Warnings(told: told) })
        let running = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: (any Error).self) { try await identity.refresh() }
            try await watch.run()
        }
        _ = await running.result
        try store.close()
        told.finish()
        for await _ in warnings { Issue.record("a warning") }
    }
}

private struct Warnings: LogHandler {
    let told: AsyncStream<Void>.Continuation
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { told.yield() }
}
