import CRDT
import Foundation
import HTTPCoding
import HTTPTypes
import Identity
import NIOHTTP1
import ServerChannel
import Simulation
import Testing

@testable import ChannelServer

/// Who may ask, and what is refused.
@Suite("The server's door", .timeLimit(.minutes(1)))
struct ConcurrencyLimiterTests {
    @Test("Nobody gets in but members of the fleet; the time is told to everybody")
    func callers() async throws {
        try await Office.open { office in
            #expect(try await office.get("/v1/jobs").status == 200)
            let stranger = try Office.headers(showing: TestFleet(founded: TestFleet.today).chain(DeviceKey()))
            let server = try Office.headers(showing: office.fleet.chain(DeviceKey(), as: .server))
            let member = try Office.headers(showing: office.fleet.chain(DeviceKey()))
            for wrong in [
                ["X-Client-Cert": ""], ["X-Client-Cert": "%"], [ChannelHeader.issuer: ""], stranger, server,
                [ChannelHeader.issuer: member["X-Client-Cert"] ?? ""],
            ] {
                let answer = try await office.get("/v1/jobs", wrong)
                #expect(
                    answer.status == 401 && answer.headers.first(name: "WWW-Authenticate") == "Muster-Certificate",
                    "\(wrong)")
                #expect(answer.headers.first(name: ChannelHeader.revocations) == nil, "strangers are told nothing")
            }
            #expect(try await office.get("/v1/jobs", member).status == 200)
            let time = try await office.get("/v1/time", ["X-Client-Cert": ""])
            let received = try #require(time.json["received"] as? Int64)
            let answered = try #require(time.json["answered"] as? Int64)
            #expect(received <= answered && answered <= WallClock().microseconds)
        }
    }

    @Test("Whom the fleet has shut out is refused within two seconds, and told to everybody who asks")
    func revocations() async throws {
        try await Office.open { office in
            let (thief, other) = (DeviceKey(), DeviceKey())
            let chain = try office.fleet.chain(thief)
            let headers = try Office.headers(showing: chain)
            #expect(try await office.get("/v1/jobs", headers).status == 200)
            let before = try await office.get("/v1/jobs").headers.first(name: ChannelHeader.revocations)
            #expect(before == RevocationLog().fingerprintText)
            let revocation = try office.fleet.revocation(of: thief.publicKey.device)
            let forged = try TestFleet().revocation(of: other.publicKey.device)
            func tell(_ entries: [[UInt8]], code: String?) async throws {
                let body = try JSON.encode(RevocationList(entries))
                #expect(try await office.ask(.POST, "/v1/revocations", body: body).code == code)
            }
            try await tell([revocation.bytes, forged.bytes], code: "outsider")
            try await tell([[1, 2, 3]], code: "malformed")
            #expect(try await office.get("/v1/jobs", headers).status == 200, "nothing was taken")
            try await tell([revocation.bytes], code: nil)
            try await Task.sleep(for: .seconds(2.2))
            #expect(try await office.get("/v1/jobs", headers).status == 401)
            let told = try await office.get("/v1/revocations")
            #expect(try JSON.decode(RevocationList.self, from: told.bytes) == RevocationList([revocation.bytes]))
            let log = RevocationLog().adding([revocation])
            #expect(told.headers.first(name: ChannelHeader.revocations) == log.fingerprintText)
            let after = try await office.get("/v1/revocations?after=\(revocation.device)")
            #expect(try JSON.decode(RevocationList.self, from: after.bytes) == RevocationList([]))
        }
    }

    @Test("Revocations come and go in pages")
    func pages() async throws {
        try await Office.open { office in
            let all = try (0..<ChannelLimits.revocations + 2).map { _ in
                try office.fleet.revocation(of: DeviceKey().publicKey.device)
            }
            let tooMany = try JSON.encode(RevocationList(all.map(\.bytes)))
            #expect(try await office.ask(.POST, "/v1/revocations", body: tooMany).status == 413)
            for some in [all[..<100], all[50...]] {
                let body = try JSON.encode(RevocationList(some.map(\.bytes)))
                let answer = try await office.ask(.POST, "/v1/revocations", body: body)
                let news = try JSON.decode(RevocationList.self, from: answer.bytes).revocations.count
                #expect(news == (some.startIndex == 0 ? 100 : 30))
            }
            var (held, query): ([[UInt8]], String) = ([], "")
            for count in [ChannelLimits.revocations, 2] {
                let answer = try await office.get("/v1/revocations\(query)")
                let page = try JSON.decode(RevocationList.self, from: answer.bytes)
                #expect(page.revocations.count == count && (page.next == nil) == (count == 2))
                held += try page.entries()
                query = "?after=\(page.next ?? "")"
            }
            #expect(held == all.sorted { $0.device < $1.device }.map(\.bytes))
            for wrong in ["", "x", String(repeating: "F", count: 64)] {
                #expect(try await office.get("/v1/revocations?after=\(wrong)").status == 400)
            }
        }
    }

    @Test("What is not for this server is refused with a reason")
    func refusals() async throws {
        try await Office.open { office in
            let (jobs, job) = ("/v1/jobs", "/v1/jobs/\(Office.job)")
            #expect(try await office.get("/v1/nothing").code == "notFound")
            let put = try await office.ask(.PUT, jobs)
            #expect(put.status == 405 && put.headers.first(name: "Allow") == "GET")
            for path in [
                "\(jobs)?wait=61", "\(jobs)?limit=0", "\(jobs)?limit=x", "\(job)/channel?after=-1", "/v1/jobs/a%20b",
                "\(job)/journals/xyz", "\(job)/mutations/12",
            ] {
                #expect(try await office.get(path).status == 400, "\(path)")
            }
            for path in [job, "\(job)/channel", "\(job)/vector", "\(job)/items"] {
                #expect(try await office.get(path).code == "unknownJob", "\(path)")
            }
            #expect(try await office.mutate([]).status == 400)
            #expect(try await office.mutate([#"{"job": "\#(Office.job)", "lane": "a", "kind": "k"}"#]).status == 400)
            let many = try (0...UInt64(ChannelLimits.mutations)).map {
                try office.mutation($0, #"{"lane": "a", "kind": "k"}"#)
            }
            #expect(try await office.mutate(many).status == 413)
            for body in [
                "", "[]", "{", #"{"lane": "a b", "kind": "k"}"#, #"{"lane": "a", "kind": "k", "priority": 256}"#,
            ] {
                #expect(try await office.mutate(1, body).status == 400, "\(body)")
            }
            let text = try await office.ask(.POST, "\(job)/journals", body: [1], type: "text/plain")
            #expect(text.status == 415)
            let large = try await office.ask(
                .POST, "\(job)/journals", body: Array(repeating: 0x20, count: 1 << 20 + 1))
            #expect(large.status == 413)
            let unknown = try await office.mutate(9, #"{"lane": "a", "kind": "makeCoffee"}"#)
            #expect(unknown.status == 422 && unknown.code == "unknownKind")
            let asked = try await office.get("/v1/jobs/\(Office.job)/mutations/\(Office.token(9))")
            #expect(asked.status == 404, "nothing is decided for good")
        }
    }

    @Test("One device cannot take all the room")
    func perDevice() throws {
        let limiter = ConcurrencyLimiter(perDevice: 2, atOnce: 3)
        for name in ["anna", "anna", "bert"] { try limiter.enter(name) }
        #expect(throws: ChannelProblem.self) { try limiter.enter("anna") }
        #expect(throws: ChannelProblem.self) { try limiter.enter("bert") }
        limiter.leave("anna")
        #expect(throws: Never.self) { try limiter.enter("carl") }
    }

    @Test("Who asks too much, or at a bad time, is told how long to wait; who shows no certificate, that one is wanted")
    func waits() {
        func headers(_ code: ChannelProblem.Code) -> HTTPFields { Answer.problem(ChannelProblem(code, "")).headers }
        #expect(headers(.limited)[.retryAfter] == "1")
        #expect(headers(.unavailable)[.retryAfter] == "5")
        #expect(headers(.unauthorised)[.wwwAuthenticate] == "Muster-Certificate")
        #expect(headers(.failed)[.retryAfter] == nil)
    }
}
