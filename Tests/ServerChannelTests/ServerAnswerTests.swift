import Testing
import Timekeeping

@testable import ServerChannel

@Suite("What a server says of the time")
struct ServerAnswerTests {
    private func answer(_ text: String) -> ServerTime.Answer {
        ServerTime.answer(Array(text.utf8), sent: 1_000_000, returned: 1_050_000)
    }

    @Test("Two numbers of microseconds make an exchange, whatever stands beside them")
    func exchange() {
        let text = #"{"answered": 1780000000000900, "received": 1780000000000100, "server": "office"}"#
        let expected = TimeExchange(
            sent: 1_000_000, received: 1_780_000_000_000_100, answered: 1_780_000_000_000_900, returned: 1_050_000)
        #expect(answer(text) == .told(expected))
    }

    @Test(
        "A login page, another document and impossible times are no exchange",
        arguments: [
            "", "<html><body>Welcome to Hotel Alpenblick. Please log in.</body></html>", "{}", "[1,2]", "null",
            #"{"received": "1780000000000100", "answered": "1780000000000900"}"#,
            #"{"received": 1780000000000100.5, "answered": 1780000000000900}"#,
            #"{"received": 1780000000000900, "answered": 1780000000000100}"#,
            #"{"received": 1780000000, "answered": 1780000000}"#,
            #"{"received": 1780000000000100, "answered": 1780000000900900}"#,
            #"{"received": 99999999999999999999, "answered": 99999999999999999999}"#,
        ])
    func wrongAnswers(text: String) {
        guard case .wrong = answer(text) else {
            Issue.record("taken: \(text)")
            return
        }
    }

    @Test(
        "An address is an http or https URL",
        arguments: [
            "http://office:8080", "https://muster.example/", "HTTPS://m.example/api/v2", "http://[::1]:9",
            "https://[fe80::1%eth0]", "https://10.0.0.5:7480", "https://the_office-2.local",
        ])
    func addresses(text: String) throws {
        let address = try #require(ServerAddress(text))
        #expect(address.url("/v1/time").hasSuffix("/v1/time"))
        #expect(!address.url("/v1/time").contains("//v1"))
    }

    @Test(
        "and nothing else",
        arguments: [
            "", "office", "ftp://office", "http://", "https:///x", "http://a b", "http://a?x=1", "http://u@h",
            "http://a#b", "https://office:74800", "https://office:0", "https://office:", "https://office:+80",
            "https://a:b:80", "https://999.0.0.1:80", "https://10.1", "https://[::1", "https://[::1]x:80",
            "https://[office]",
            "https://a,b",
        ])
    func wrongAddresses(text: String) {
        #expect(ServerAddress(text) == nil)
    }
}
