import CRDT
import HTTPTypes
import NIOHTTP1
import ServerChannel
import Storage
import Testing

@testable import ChannelServer

/// Who may ask, and what is refused.
@Suite("The server's door", .timeLimit(.minutes(1)))
struct ConcurrencyLimiterTests {
    @Test("Nobody gets in without a token that holds; the time is told to everybody")
    func tokens() async throws {
        try await Office.open { office in
            #expect(try await office.get("/v1/jobs").status == 200)
            for wrong in ["", "Bearer", "Bearer nonsense", "Basic YTpi", "Bearer \(office.token)x"] {
                let answer = try await office.get("/v1/jobs", ["Authorization": wrong])
                #expect(answer.status == 401 && answer.headers.first(name: "WWW-Authenticate") == "Bearer", "\(wrong)")
            }
            let time = try await office.get("/v1/time", ["Authorization": ""])
            let received = try #require(time.json["received"] as? Int64)
            let answered = try #require(time.json["answered"] as? Int64)
            #expect(received <= answered && answered <= WallClock().microseconds)
            let tokens = try TokenAdministration(databasePath: office.databasePath)
            let second = try await tokens.add("bert")
            #expect(try await office.get("/v1/jobs", ["Authorization": "Bearer \(second)"]).status == 200)
            await #expect(throws: StartProblem.self) { try await tokens.add("bert") }
            try await tokens.revoke("bert")
            // Believed a little longer, as documented.
            try await Task.sleep(for: .seconds(2.2))
            #expect(try await office.get("/v1/jobs", ["Authorization": "Bearer \(second)"]).status == 401)
            #expect(try await tokens.list().map(\.name) == ["anna", "bert"])
            try tokens.close()
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
            let many = (0...UInt128(ChannelLimits.mutations)).map {
                office.mutation($0, #"{"lane": "a", "kind": "k"}"#)
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
            let asked = try await office.get("/v1/jobs/\(Office.job)/mutations/\(MutationToken(9))")
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

    @Test("Who asks too much, or at a bad time, is told how long to wait; who has no token, which kind to bring")
    func waits() {
        func headers(_ code: ChannelProblem.Code) -> HTTPFields { Answer.problem(ChannelProblem(code, "")).headers }
        #expect(headers(.limited)[.retryAfter] == "1")
        #expect(headers(.unavailable)[.retryAfter] == "5")
        #expect(headers(.unauthorised)[.wwwAuthenticate] == "Bearer")
        #expect(headers(.failed)[.retryAfter] == nil)
    }
}
