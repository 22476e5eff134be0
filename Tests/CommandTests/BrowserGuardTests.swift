import HTTPTypes
import Hummingbird
@testable import LocalAPIServer
import NIOCore
import NIOHTTP1
import Testing

@testable import LocalAPI

@Suite("Pages in a browser")
struct BrowserGuardTests {
    private func refusal(host: String?, origin: String? = nil) -> APIError.Code? {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/v1/status")
        if let origin { head.headerFields[.origin] = origin }
        do throws(APIError) {
            try BrowserGuard.check(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("are turned away by what they cannot leave out, and programs are not")
    func check() {
        for host in [nil, "", "localhost", "LocalHost", "localhost:80"] { #expect(refusal(host: host) == nil) }
        for host in ["attacker.example", "evil", "evil:4711", "127.0.0.1:4711", "localhost."] {
            #expect(refusal(host: host) == .notPermitted)
        }
        for origin in ["null", "https://attacker.example", "http://localhost"] {
            #expect(refusal(host: "localhost", origin: origin) == .notPermitted)
        }
    }

    @Test("are asked for nothing at all of a daemon, on either socket", arguments: [LocalSocket.Access.all, .looking])
    func asked(access: LocalSocket.Access) async throws {
        let statuses = try await withDaemon(try await Scene().answers, access: access) { socket in
            try await LocalClient.with(socketPath: socket) { client in
                var statuses: [UInt] = []
                for (name, value) in [("Muster-Version", "0"), ("Origin", "null"), ("Host", "attacker.example")] {
                    let answer = try await client.answer(.GET, ["jobs"], headers: [(name, value)])
                    statuses.append(answer.status.code)
                }
                return statuses
            }
        }
        #expect(statuses == [200, 403, 403])
    }
}
