import CRDT
import Foundation
import HTTPCoding
@testable import LocalAPIServer
import NIOHTTP1
import Logging
import Storage
import Systemd
import Testing

@testable import LocalAPI
@testable import Node

@Suite(.timeLimit(.minutes(1)))
struct LocalServerTests {
    @Test("Owner and group may use the socket, others not; it goes when the daemon stops")
    func mode() async throws {
        let path = try await withDaemon(try await Scene().answers) { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
            #expect(attributes[.type] as? FileAttributeType == .typeSocket)
            return path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("On a readers' socket only what changes nothing and lets nobody in is answered", arguments: Route.all.indices)
    func readers(route: Int) async throws {
        let route = Route.all[route]
        // A backup holds what no picture of a job shows.
        let isOpen = !route.path.contains("invitations") && route.path != "/v1/backup"
        let changesNothing = "\(route.method)" == "GET" && isOpen
        // Whoever watches events waits without end.
        guard route.path != "/v1/events" else { return }
        let segments = route.path.split(separator: "/").dropFirst().map { $0.hasPrefix("{") ? "7" : String($0) }
        try await withDaemon(try await Scene().answers, access: .looking) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                var refusal: APIError?
                do {
                    _ = try await client.send(HTTPMethod(rawValue: "\(route.method)"), segments)
                } catch let error as APIError {
                    refusal = error
                }
                let isRefused = refusal.map { $0.code == .notPermitted && $0.message.contains("for looking only") }
                #expect((isRefused ?? false) == !changesNothing, "\(route.method) \(route.path)")
            }
        }
    }

    @Test("A socket that a daemon left behind is replaced; one that answers is not")
    func stale() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/m.sock"
        try await withDaemon(try await Scene().answers, at: path) { _ in
            // A second name for the first daemon's file: it stays behind when that daemon has gone.
            try FileManager.default.linkItem(atPath: path, toPath: directory.path + "/left.sock")
            let error = await #expect(throws: APIError.self) {
                try await withDaemon(try await Scene().answers, at: path) { _ in }
            }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("Another daemon answers on \(path)") == true)
        }
        let left = directory.path + "/left.sock"
        #expect(FileManager.default.fileExists(atPath: left))
        let jobs = try await withDaemon(try await Scene().answers, at: left) { path in
            try await LocalClient.with(socketPath: path) { try await $0.jobs() }
        }
        #expect(jobs.count == 2)
    }

    @Test("Of two that are started together one has the path, though nobody answers there yet; then the next one")
    func together() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = LocalSocket(path: directory.path + "/m.sock").file
        let lock = try file.prepare()
        let error = #expect(throws: APIError.self) { try file.prepare() }
        #expect(error?.code == .unavailable && error?.message.contains("Another daemon") == true)
        lock.release()
        // What a daemon has left that was killed, or whose power was cut.
        #expect(FileManager.default.fileExists(atPath: file.path + ".lock"))
        try file.prepare().release()
    }

    @Test("A daemon that takes nobody in just now, since so many wait, keeps its socket")
    func crowded() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/m.sock"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        func open(_ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            descriptors.append(socket(AF_UNIX, Int32(kind), 0))
            let descriptor = descriptors[descriptors.count - 1]
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? 0 : errno
                }
            }
        }
        #expect(open { bind($0, $1, $2) } == 0 && listen(descriptors[0], 0) == 0)
        var failure: Int32 = 0
        while failure == 0, descriptors.count < 10 { failure = open { connect($0, $1, $2) } }
        #expect(failure == EAGAIN, "nobody else is taken in")
        let error = await #expect(throws: APIError.self) {
            try await withDaemon(try await Scene().answers, at: path) { _ in }
        }
        #expect(error?.code == .unavailable)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("A stream of events says every 15 seconds that it stands, unless something else is asked for")
    func heartbeat() async throws {
        let server = LocalServer(
            LocalSocket(path: "/nowhere"), service: try await Scene().answers,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(server.heartbeat == .seconds(15))
    }

    @Test("What is no socket is known before anything is made")
    func checked() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try directory.write("precious", to: "m.sock")
        let error = #expect(throws: APIError.self) { try LocalSocket(path: file).check() }
        #expect(error?.message.contains("is not a socket") == true)
    }

    @Test("A file that is no socket is left alone, and a path that is too long is refused")
    func refused() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try directory.write("precious", to: "m.sock")
        let error = await #expect(throws: APIError.self) {
            try await withDaemon(try await Scene().answers, at: file) { _ in }
        }
        #expect(error?.message.contains("is not a socket") == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        let long = directory.path + "/" + String(repeating: "x", count: 120)
        await #expect(throws: APIError.self) { try await withDaemon(try await Scene().answers, at: long) { _ in } }
    }

    @Test("Events arrive until there are no more")
    func events() async throws {
        let scene = try await Scene()
        let received = Mutable<[Event]>([])
        let sent: [Event] = [
            .change(try await scene.changes()[0]),
            .job(JobAdvanced(job: Scene.jobID, vector: [scene.anna.store.identity.replica.description: 28])),
        ]
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/events.sock"
        try await LocalClient.with(socketPath: path) { client in
            let (arrived, arrival) = AsyncStream<Void>.makeStream()
            async let daemon: Void = withDaemon(scene.answers, at: path) { _ in
                for await _ in arrived {}
            }
            while !FileManager.default.fileExists(atPath: path) { await Task.yield() }
            // Ends by itself when its source does, as in a daemon that stops.
            try await client.events(job: nil, onSubscribed: { sent.forEach(scene.service.hub.publish) }) { event in
                received.value.append(event)
                guard received.value.count == sent.count else { return }
                scene.service.hub.finish()
                arrival.finish()
            }
            try await daemon
        }
        #expect(received.value == sent)
    }

    @Test("A daemon that stops ends the streams of events, and waits for nobody who watches")
    func stopsWhileWatched() async throws {
        let scene = try await Scene()
        let ender = StreamEnder(hub: scene.service.hub) {}
        let watching = try await withDaemon(scene.answers, endedBy: ender) { path in
            let (subscribed, subscription) = AsyncStream<Void>.makeStream()
            let watching = Task {
                try await LocalClient.with(socketPath: path) { client in
                    try await client.events(job: Scene.jobID, onSubscribed: { subscription.finish() }) { _ in }
                }
            }
            for await _ in subscribed {}
            return watching
        }
        try await watching.value
    }

    @Test("A request that cannot be read is refused with a problem that says why")
    func malformed() async throws {
        try await withDaemon(try await Scene().answers) { path in
            try await LocalClient.with(socketPath: path) { client in
                let missing = await #expect(throws: APIError.self) {
                    _ = try await client.send(.POST, ["jobs"], body: LaneRequest())
                }
                #expect(missing?.code == .invalidRequest)
                #expect(
                    missing?.message == "The body is not what this path takes: 'name' is missing in it.")
                let unknown = await #expect(throws: APIError.self) { _ = try await client.send(.GET, ["nowhere"]) }
                #expect(unknown?.code == .notFound)
                let wrongMethod = await #expect(throws: APIError.self) { _ = try await client.send(.PUT, ["status"]) }
                #expect(wrongMethod?.code == .methodNotAllowed)
                let filter = await #expect(throws: APIError.self) {
                    _ = try await client.send(.GET, ["jobs", "0190", "items"], query: [("where", "novalue")])
                }
                #expect(filter?.code == .invalidRequest)
            }
        }
    }

    @Test(
        "A key that a body does not take is refused with the nearest that it takes, and nothing is done",
        arguments: [
            (["import"], #"{"items": [{"fields": {"a": "b"}}, {"feilds": {}, "fields": {"a": "b"}}]}"#, "fields"),
            (["items"], #"{"felds": {"room": "Den"}}"#, "fields"),
            (["removals"], #"{"matching": {"room": "Hall"}, "isConfrmed": true}"#, "isConfirmed"),
            (["state"], #"{"state": "completed", "State": "x"}"#, "state"),
        ])
    func unknownKeys(path: [String], body: String, nearest: String) async throws {
        let scene = try await Scene()
        let before = try await scene.service.job(Scene.jobID, makesDigest: true).digest
        try await withDaemon(scene.answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let refusal = await #expect(throws: APIError.self) {
                    let sent: AnyJSON = try JSON.decode(from: Array(body.utf8))
                    _ = try await client.send(.POST, ["jobs", Scene.jobID] + path, body: sent)
                }
                #expect(refusal?.code == .invalidRequest)
                #expect(refusal?.message.hasSuffix("did you mean '\(nearest)'?") == true, "\(refusal?.message ?? "")")
            }
        }
        #expect(try await scene.service.job(Scene.jobID, makesDigest: true).digest == before)
    }

    @Test("A body beyond the limit is refused, and the connection goes on")
    func tooLarge() async throws {
        try await withDaemon(try await Scene().answers) { path in
            try await LocalClient.with(socketPath: path) { client in
                let error = await #expect(throws: APIError.self) {
                    let text = String(repeating: "x", count: 5 << 20)
                    _ = try await client.addNote(NoteRequest(text: text), item: Scene.itemIDs[0], job: "0190")
                }
                #expect(error?.code == .tooLarge)
                let jobs = try await client.jobs()
                #expect(jobs.count == 2)
            }
        }
    }

    @Test("A fault of the daemon reaches the caller without its inner words")
    func fault() async throws {
        try await withDaemon(try await Scene().answers) { path in
            try await LocalClient.with(socketPath: path) { client in
                let error = await #expect(throws: APIError.self) { try await client.job("broken") }
                #expect(error?.code == .failed)
                #expect(error?.message.contains("Fault") == false)
            }
        }
    }
}

/// A document that fits no type.
private indirect enum AnyJSON: Codable, Sendable {
    case flag(Bool)
    case text(String)
    case list([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([AnyJSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: AnyJSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        }
    }
}
