import Authorship
import CRDT
import Foundation
import Identity
import NIOHTTP1
import ServerChannel
import Simulation
import Testing

@testable import ChannelServer

/// Whoever delivers a request, it is its author's.
@Suite("Who has asked the server", .timeLimit(.minutes(1)))
struct RequestAuthorTests {
    private static let open = #"{"lane": "state", "kind": "openJob", "payload": {"name": "Jones"}}"#
    private let bert = TestAuthor(7)

    /// Nobody has decided anything of the first request.
    private func isFree(_ office: Office, _ token: MutationToken) async throws -> Bool {
        let asked = try await office.get("/v1/jobs/\(Office.job)/mutations/\(token)")
        return ["unknownRequest", "unknownJob"].contains(asked.code)
    }

    private func altered(_ mutation: String, _ field: String, _ value: Any) throws -> String {
        var fields = try #require(JSONSerialization.jsonObject(with: Data(mutation.utf8)) as? [String: Any])
        fields[field] = value
        return String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
    }

    @Test("What somebody has altered on the way is refused and leaves the token free")
    func alterations() async throws {
        try await Office.open { office in
            let (sound, author) = (try office.mutation(1, Self.open, by: bert), try office.known(bert))
            let alterations: [(String, Any)] = [
                ("job", "job-2"), ("token", bert.token(2).description), ("lane", "office"),
                ("after", bert.token(3).description), ("priority", 9), ("kind", "signOff"),
                ("payload", #"{"name":"Smith"}"#), ("nonce", String(repeating: "0", count: 32)),
                ("key", Office.asker.author.key.hexadecimalDigits),
                ("signature", Data(repeating: 1, count: 64).base64EncodedString()),
            ]
            for (field, value) in alterations {
                let answer = try await office.mutate([altered(sound, field, value)], by: author)
                #expect(answer.status == 422 && answer.code == "forgedRequest", "\(field): \(answer.json)")
            }
            for (field, value) in [("key", "00"), ("nonce", "7"), ("signature", "AAAA"), ("payload", 7)]
                as [(String, Any)]
            {
                let answer = try await office.mutate([altered(sound, field, value)], by: author)
                #expect(answer.status == 400 || answer.code == "malformed", "\(field): \(answer.json)")
            }
            for chance in [1, 2] as [UInt64] { #expect(try await isFree(office, bert.token(chance))) }
            #expect(try await office.get("/v1/jobs").json["jobs"] as? [String] ?? [] == [])
            #expect(try await office.mutate([sound], by: author).decision["verdict"] as? String == "accepted")
        }
    }

    @Test("Nobody uses up another's token, and a list ends before what is forged")
    func anothersToken() async throws {
        try await Office.open { office in
            let request = bert.asks(
                MutationRequest(
                    token: MutationToken(1), lane: "state", after: nil, priority: 0, kind: "openJob",
                    payload: Array(#"{"name":"Jones"}"#.utf8)), for: try #require(JobID(Office.job)))
            let stolen = TestSigner(4_711).sign(request, for: try #require(JobID(Office.job)), nonce: 4_711)
            let early = try await office.mutate([Office.json(stolen)])
            #expect(early.status == 422 && early.code == "forgedRequest")
            let list = [try office.mutation(1, Self.open), try Office.json(stolen), try office.mutation(2, Self.open)]
            let decided = try #require(try await office.mutate(list).json["decisions"] as? [[String: Any]])
            #expect(decided.compactMap { $0["token"] as? String } == [Office.token(1).description])
            #expect(try await isFree(office, request.token))
            let real = try await office.mutate([Office.json(request)], by: office.known(bert))
            #expect(real.decision["verdict"] as? String == "accepted")
        }
    }

    @Test("Who is in no fleet is refused until it is; whose journal the server has is known to it")
    func outsiders() async throws {
        try await Office.open { office in
            let mutation = try office.mutation(1, Self.open, by: bert)
            var stranger = try office.known(bert)
            stranger.certificates = try TestFleet(founded: TestFleet.today).chain(DeviceKey())
            for author in [bert.author, stranger, try office.known(Office.asker)] {
                let answer = try await office.mutate([mutation], by: author)
                #expect(answer.status == 422 && answer.code == "outsider", "\(answer.json)")
            }
            #expect(try await isFree(office, bert.token(1)))
            var journal = try office.journal(7)
            #expect(try await office.upload([journal.add(["Sofa"])]).status == 200)
            let answer = try await office.mutate([mutation], by: stranger)
            #expect(answer.decision["verdict"] as? String == "accepted", "\(answer.json)")
        }
    }

    @Test("What a revoked laptop or a reader has asked is rejected, but for what was decided before")
    func revoked() async throws {
        try await Office.open { office in
            let author = try office.known(bert)
            let before = try await office.mutate([office.mutation(1, Self.open, by: bert)], by: author)
            let key = try #require(DevicePublicKey(author.key))
            let list = RevocationList([try office.fleet.revocation(of: key.device).bytes])
            let told = try await office.ask(.POST, "/v1/revocations", body: [UInt8](JSONEncoder().encode(list)))
            #expect(told.status == 200)
            // Nobody waits for what it follows.
            let advance = """
                {"lane": "state", "after": "\(bert.token(8))", "kind": "advanceState", "payload": {"state": "dispatched"}}
                """
            for _ in 1...2 {
                let late = try await office.mutate([office.mutation(2, advance, by: bert)], by: author)
                #expect(late.decision["verdict"] as? String == "rejected", "\(late.json)")
                #expect((late.decision["reason"] as? String)?.contains("revoked") == true)
            }
            let again = try await office.mutate([office.mutation(1, Self.open, by: bert)], by: author)
            #expect(again.bytes == before.bytes)
            let reader = try await office.mutate(
                [office.mutation(3, Self.open)], by: office.known(Office.asker, as: .reader))
            #expect(reader.decision["verdict"] as? String == "rejected")
        }
    }
}
