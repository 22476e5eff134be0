import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Testing

@testable import LocalAPI
@testable import LocalAPIServer

@Suite("Figures for Prometheus")
struct MetricsResponderTests {
    private static let figures = [
        Metric(name: "muster_links", kind: .gauge, help: "Laptops.", value: 2),
        Metric(name: "muster_polls_total", kind: .counter, help: "Polls.", value: 7),
    ]

    private func answer(
        _ method: HTTPRequest.Method = .get, _ path: String = "/metrics", host: String? = "127.0.0.1:9473",
        origin: String? = nil, at address: MetricsAddress = MetricsAddress(host: "localhost", port: 9473)
    ) async -> Response {
        var head = HTTPRequest(method: method, scheme: "http", authority: host, path: path)
        if let origin { head.headerFields[.origin] = origin }
        let responder = MetricsResponder(
            address: address, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {
            Self.figures
        }
        return await responder.respond(to: Request(head: head, body: RequestBody(buffer: ByteBuffer())))
    }

    @Test("are told in its text format, and HEAD says how long that is")
    func told() async {
        let (whole, head) = (await answer(), await answer(.head))
        let length = Metric.prometheus(Self.figures).utf8.count
        for answer in [whole, head] {
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.headers[.contentLength] == "\(length)")
        }
        #expect(whole.body.contentLength == length && head.body.contentLength ?? 0 == 0)
        #expect(await answer(.get, "/metrics?x=1").status == .ok)
    }

    @Test("are all that there is, and are asked for only")
    func nothingElse() async {
        for path in ["/", "/metric", "/metrics/", "/metrics/x", "/v1/jobs"] {
            #expect(await answer(.get, path).status == .notFound)
        }
        for method in [HTTPRequest.Method.post, .put, .delete, .options] {
            let answer = await answer(method)
            #expect(answer.status == .methodNotAllowed && answer.headers[.allow] == "GET, HEAD")
        }
    }

    @Test("are not for pages in a browser, whatever name was resolved to this machine")
    func browsers() async {
        let named = MetricsAddress(host: "Anna.lan", port: 9473)
        for host in [
            nil, "", "localhost", "localhost:9473", "127.0.0.1", "10.0.0.5:9473", "[::1]:9473", "::1",
        ] {
            #expect(await answer(host: host).status == .ok, "\(host ?? "none")")
        }
        #expect(await answer(host: "anna.lan:9473", at: named).status == .ok)
        for host in [
            "attacker.example", "anna.lan:9473", "anna:9473", "127.0.0.1.attacker.example:9473", "localhost.", "1.2.3",
            "1.2.3.400",
        ] {
            #expect(await answer(host: host).status == .forbidden, "\(host)")
        }
        #expect(await answer(host: "attacker.lan", at: named).status == .forbidden)
        #expect(await answer(origin: "null").status == .forbidden)
    }

    @Test("are text that Prometheus reads, whatever stands in them")
    func text() {
        func text(_ value: Double, help: String = "Help.") -> String {
            Metric.prometheus([Metric(name: "a", kind: .gauge, help: help, value: value)])
        }
        #expect(text(1.5) == "# HELP a Help.\n# TYPE a gauge\na 1.5\n")
        #expect(text(3).hasSuffix("\na 3\n") && text(-0.25).hasSuffix("\na -0.25\n"))
        #expect(text(.nan).hasSuffix("\na NaN\n") && text(.infinity).hasSuffix("\na +Inf\n"))
        #expect(text(-.infinity).hasSuffix("\na -Inf\n") && text(1e300).hasSuffix("\na 1e+300\n"))
        #expect(text(1, help: "One\nof C:\\.").hasPrefix("# HELP a One\\nof C:\\\\.\n"))
        let twice = [1, 2].map { Metric(name: "a", kind: .counter, help: "Help.", value: $0) }
        #expect(Metric.prometheus(twice) == "# HELP a Help.\n# TYPE a counter\na 1\n")
        #expect(Metric.prometheus([]) == "")
    }
}
