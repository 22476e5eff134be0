import HTTPTypes
@testable import LocalAPIServer
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import LocalAPI

/// What HTTP asks of every path, and what a path takes.
@Suite(.timeLimit(.minutes(1)))
struct MethodTests {
    private static func answer(
        _ method: HTTPMethod, _ path: [String], _ query: [(String, String)] = []
    ) async throws -> (status: UInt, headers: HTTPHeaders, length: Int) {
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let response = try await client.answer(method, path, query: query)
                return (response.status.code, response.headers, response.body.readableBytes)
            }
        }
    }

    /// All that comes over one connection for what is sent.
    static func bytes(answering requests: String) async throws -> String {
        try await withDaemon(try await Scene().answers) { socket in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: socket) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: requests))
                return String(buffer: try await inbound.collect(upTo: 1 << 20))
            }
        }
    }

    @Test("HEAD is answered as GET is, without a body", arguments: Route.all.indices)
    func head(route: Int) async throws {
        let route = Route.all[route]
        guard route.method == .get else { return }
        let path = route.path.split(separator: "/").dropFirst().map { segment in
            switch segment {
            case "{job}": Scene.jobID
            case "{item}": Scene.itemIDs[0]
            default: segment.hasPrefix("{") ? "7" : String(segment)
            }
        }
        let head = try await Self.answer(.HEAD, path)
        #expect(head.length == 0)
        // The connection is as sound as before: what follows is the next answer and nothing else. Or it is said that none follows.
        let both = try await Self.bytes(
            answering: "HEAD /v1/\(path.joined(separator: "/")) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "GET /v1/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let end = try #require(both.firstRange(of: "\r\n\r\n")?.upperBound)
        #expect(both.hasPrefix("HTTP/1.1 \(head.status)"))
        #expect(both[..<end].contains("Connection: close") || both[end...].hasPrefix("HTTP/1.1 200"), "\(both)")
        // Whoever watches events waits without end.
        guard route.path != "/v1/events" else { return #expect(head.status == 200) }
        let get = try await Self.answer(.GET, path)
        #expect(head.status == get.status && head.headers["content-type"] == get.headers["content-type"])
        #expect(head.headers.first(name: "content-length") == get.headers.first(name: "content-length"))
    }

    @Test("OPTIONS and a refused method name those that a path takes")
    func allowed() async throws {
        let item = ["jobs", Scene.jobID, "items", Scene.itemIDs[0]]
        let options = try await Self.answer(.OPTIONS, item)
        #expect(options.status == 204 && options.headers["allow"] == ["GET, HEAD, PATCH, DELETE, OPTIONS"])
        let refused = try await Self.answer(.PUT, item)
        #expect(refused.status == 405 && refused.headers["allow"] == ["GET, HEAD, PATCH, DELETE, OPTIONS"])
        #expect(refused.headers["content-type"] == ["application/problem+json"])
        #expect(try await Self.answer(.DELETE, ["queue", "log"]).headers["allow"] == ["GET, HEAD, OPTIONS"])
        #expect(try await Self.answer(.OPTIONS, ["nowhere"]).status == 404)
        #expect(try await Self.answer(.OPTIONS, item, [("force", "true")]).status == 204)
        #expect(try await Self.answer(.OPTIONS, item, [("forse", "true")]).status == 400)
    }

    static let queries: [(query: [(String, String)], sentence: String)] = [
        ([("wher", "room=Den")], "'wher' is no parameter of this path: did you mean 'where'?"),
        ([("colour", "x")], "'colour' is no parameter of this path: it takes where, limit, after."),
    ]

    @Test(
        "A parameter that a path does not take is refused, with the nearest that it takes", arguments: queries.indices)
    func unknownParameter(index: Int) async throws {
        let (query, sentence) = Self.queries[index]
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                let refusal = await #expect(throws: APIError.self) {
                    _ = try await client.send(.GET, ["jobs", Scene.jobID, "items"], query: query)
                }
                #expect(refusal?.code == .invalidRequest && refusal?.message == sentence)
            }
        }
    }

    @Test("A parameter that may be given once is refused twice; a filter may be given as often as one likes")
    func twice() async throws {
        let export = ["jobs", Scene.jobID, "export"]
        #expect(try await Self.answer(.GET, export, [("format", "csv"), ("format", "json")]).status == 400)
        let items = ["jobs", Scene.jobID, "items"]
        #expect(try await Self.answer(.GET, items, [("where", "room=Den"), ("where", "name=Sofa")]).status == 200)
        #expect(try await Self.answer(.GET, ["status"], [("x", "")]).status == 400)
        #expect(try await Self.answer(.DELETE, ["jobs", Scene.jobID], [("confirmed", "yes")]).status == 400)
    }

    @Test("A tag goes out with what it names, and comes back in If-Match")
    func tags() async throws {
        let item = ["jobs", Scene.jobID, "items", Scene.itemIDs[0]]
        let fields = FieldsRequest(fields: ["room": "Den"])
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                func write(_ tag: String?, at path: [String] = item) async throws -> (UInt, String?) {
                    let headers = tag.map { [("If-Match", $0)] } ?? []
                    let answer = try await client.answer(.PATCH, path, body: fields, headers: headers)
                    return (answer.status.code, answer.headers.first(name: "ETag"))
                }
                let seen = try await client.answer(.GET, item).headers.first(name: "ETag")
                #expect(seen?.hasPrefix("\"") == true && seen?.hasSuffix("\"") == true)
                let first = try await write(seen)
                #expect(first.0 == 200 && first.1 != seen)
                #expect(try await write(seen).0 == 412)
                #expect(try await write("\"other\", \(first.1 ?? "")").0 == 200)
                #expect(try await write("*").0 == 200)
                #expect(try await write("unquoted").0 == 400)
                let job = try await client.answer(.GET, ["jobs", Scene.jobID])
                #expect(job.headers.first(name: "ETag") != nil)
                // What would be passed over is refused.
                let pause = try await client.answer(
                    .POST, ["queue", "pause"], body: LaneRequest(), headers: [("If-Match", "*")])
                #expect(pause.status.code == 400)
            }
        }
    }
}
