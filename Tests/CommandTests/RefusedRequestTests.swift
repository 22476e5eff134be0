import HTTPCoding
import NIOHTTP1
import Testing

@testable import LocalAPI

/// What is asked in a way that would be passed over in silence, or not be understood.
@Suite(.timeLimit(.minutes(1)))
struct RefusedRequestTests {
    /// The status and the problem that are answered to what is sent.
    private static func answer(
        _ head: String, _ body: String = ""
    ) async throws -> (status: String, problem: Problem?) {
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let text = try await MethodTests.bytes(
            answering: "\(head) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(length)\r\n\(body)")
        let status = text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let content = text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
        return (status, try? JSON.decode(Problem.self, from: content.utf8))
    }

    @Test("A method that HTTP does not have is answered with 501, one that a path does not take with 405")
    func methods() async throws {
        let unknown = try await Self.answer("BREW /v1/status")
        #expect(unknown.status == "501" && unknown.problem?.code == .unknownMethod)
        #expect(unknown.problem?.detail.contains("OPTIONS") == true)
        let foreign = try await Self.answer("PROPFIND /v1/status")
        #expect(foreign.status == "405" && foreign.problem?.code == .methodNotAllowed)
    }

    @Test("What is no request of HTTP is answered with a problem, also where it breaks off in its body")
    func unreadable() async throws {
        let head = try await Self.answer("GET /v1/status HTTP/1.1\r\nno header")
        #expect(head.status == "400" && head.problem?.code == .invalidRequest)
        let text = try await MethodTests.bytes(
            answering: "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")
        #expect(text.hasPrefix("HTTP/1.1 400"), "\(text)")
        #expect(text.contains(APIError.Code.invalidRequest.rawValue))
    }

    @Test("Who waits for the word sends the body then")
    func goOn() async throws {
        let text = try await MethodTests.bytes(
            answering: "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n"
                + "Content-Length: 15\r\n\r\n{\"name\": \"Oak\"}")
        #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 "), "\(text)")
    }

    @Test("A key that stands twice is refused by name, and nothing is done")
    func keyTwice() async throws {
        let path = "/v1/jobs/\(Scene.jobID)/items"
        for body in [#"{"fields": {"name": "a"}, "fields": {}}"#, #"{"fields": {"fields": "a", "fields": "b"}}"#] {
            let answer = try await Self.answer("POST \(path)", body)
            #expect(answer.status == "400")
            #expect(answer.problem?.detail.contains("'fields' stands twice in") == true, "\(answer)")
        }
    }

    static let bodies: [(request: String, body: String, part: String?)] = [
        ("POST /v1/jobs/\(Scene.jobID)/items/\(Scene.removedItemID)/restore", #"{"force": true}"#, "'force'"),
        ("POST /v1/jobs/\(Scene.jobID)/items/\(Scene.removedItemID)/restore", "[]", "must be an object"),
        ("POST /v1/jobs/\(Scene.jobID)/items/\(Scene.removedItemID)/restore", "{}", nil),
        ("DELETE /v1/jobs/\(Scene.jobID)/items/\(Scene.itemIDs[0])", #"{"isConfirmed": true}"#, "'isConfirmed'"),
        ("DELETE /v1/session", "{}", nil),
        ("GET /v1/jobs", #"{"name": "x"}"#, "takes no body"),
        ("HEAD /v1/jobs", "{}", ""),
    ]

    @Test("A body that would be passed over is refused; an empty one is none", arguments: bodies.indices)
    func passedOver(index: Int) async throws {
        let (request, body, part) = Self.bodies[index]
        let answer = try await Self.answer(request, body)
        #expect(answer.status.hasPrefix(part == nil ? "2" : "400"), "\(answer)")
        // HEAD has no words.
        if let part, !part.isEmpty { #expect(answer.problem?.detail.contains(part) == true, "\(answer)") }
    }

    @Test("A reader's conditions are held, and a writer's that would be passed over are refused")
    func conditions() async throws {
        let item = ["jobs", Scene.jobID, "items", Scene.itemIDs[0]]
        try await withDaemon(try await Scene().answers) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                func ask(_ method: HTTPMethod, _ header: String, _ value: String) async throws -> String {
                    let body = method == .PATCH ? FieldsRequest(fields: ["room": "Den"]) : nil
                    let answer = try await client.answer(method, item, body: body, headers: [(header, value)])
                    let tag = answer.headers.first(name: "ETag")
                    return "\(answer.status.code)" + (tag.map { " \($0)" } ?? "")
                }
                let tag = try #require(try await client.answer(.GET, item).headers.first(name: "ETag"))
                #expect(try await ask(.GET, "If-None-Match", tag) == "304 \(tag)")
                #expect(try await ask(.HEAD, "If-None-Match", "\"zz\", W/\(tag)") == "304 \(tag)")
                #expect(try await ask(.GET, "If-None-Match", "*").hasPrefix("304"))
                #expect(try await ask(.GET, "If-None-Match", "\"zz\"") == "200 \(tag)")
                #expect(try await ask(.GET, "If-None-Match", "zz").hasPrefix("400"))
                #expect(try await ask(.GET, "If-Match", tag).hasPrefix("200"))
                #expect(try await ask(.GET, "If-Match", "*").hasPrefix("200"))
                #expect(try await ask(.GET, "If-Match", "\"zz\"").hasPrefix("412"))
                #expect(try await ask(.GET, "If-Match", "W/\(tag)").hasPrefix("412"))
                #expect(try await ask(.PATCH, "If-None-Match", "*").hasPrefix("400"))
                #expect(try await ask(.PATCH, "If-Match", tag).hasPrefix("200"), "nothing was changed before")
            }
        }
    }
}
