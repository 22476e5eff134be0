import CRDT
import ServerChannel
import Testing

@testable import ChannelServer

/// Several mutations in one request.
@Suite("Lists of mutations", .timeLimit(.minutes(1)))
struct MutationListTests {
    private static let open = #"{"lane": "state", "kind": "openJob", "payload": {"name": "Jones"}}"#

    private static func advance(_ state: String, after: UInt64) -> String {
        """
        {"lane": "state", "after": "\(Office.token(after))", "kind": "advanceState", "payload": {"state": "\(state)"}}
        """
    }

    private static func tokens(_ answer: Office.Answer) -> [String] {
        (answer.json["decisions"] as? [[String: Any]] ?? []).compactMap { $0["token"] as? String }
    }

    @Test("They are decided up to the first that cannot be, which is told of when it is the first of a list")
    func inPart() async throws {
        try await Office.open { office in
            let list = [
                try office.mutation(1, Self.open), try office.mutation(2, Self.advance("dispatched", after: 1)),
                try office.mutation(3, #"{"lane": "coffee", "kind": "makeCoffee"}"#),
                try office.mutation(4, Self.advance("inProgress", after: 2)),
            ]
            let decided = (1...2).map { Office.token($0).description }
            for _ in 1...2 {
                let answer = try await office.mutate(list)
                #expect(answer.status == 200 && Self.tokens(answer) == decided)
            }
            let first = try await office.mutate(Array(list[2...]))
            #expect(first.status == 422 && first.code == "unknownKind")
            #expect(try await office.get("/v1/jobs/\(Office.job)").json["state"] as? String == "dispatched")
            let early = try office.mutation(6, Self.advance("awaitingSignature", after: 5))
            let answer = try await office.mutate([list[3], early])
            #expect(Self.tokens(answer) == [Office.token(4).description])
            #expect(try await office.mutate([early]).code == "predecessorMissing")
        }
    }

    @Test("Of each job what its sender lacks of the channel comes once, and nothing of where it did not say")
    func channels() async throws {
        try await Office.open { office in
            let list = [
                try office.mutation(1, Self.open, job: "a", channel: 0), try office.mutation(2, Self.open, job: "b"),
                try office.mutation(3, Self.advance("dispatched", after: 1), job: "a", channel: 0),
                try office.mutation(4, Self.open, job: "c", channel: 0),
            ]
            let answer = try await office.mutate(list)
            let channels = try #require(answer.json["channels"] as? [[String: Any]])
            #expect(channels.compactMap { $0["job"] as? String } == ["a", "c"])
            let news = try #require(channels.first?["news"] as? [String: Any])
            let direct = try await office.get("/v1/jobs/a/channel").json
            #expect(news["head"] as? Int == direct["head"] as? Int)
            #expect((news["entries"] as? [Any])?.count == (direct["entries"] as? [Any])?.count)
        }
    }

    // It was looked up by the token, so that another job's items were signed for.
    @Test("A signature is for the items of its own job, whatever else comes under its token")
    func signature() async throws {
        try await Office.open { office in
            var journals = [try office.journal(7, of: "a"), try office.journal(8, of: "b")]
            #expect(try await office.upload([journals[0].add(["Sofa"])], job: "a").status == 200)
            #expect(try await office.upload([journals[1].add(["Lamp"])], job: "b").status == 200)
            let states = ["dispatched", "inProgress", "awaitingSignature"]
            let work =
                try [office.mutation(1, Self.open, job: "a")]
                + zip(2..., states).map { try office.mutation($0, Self.advance($1, after: $0 - 1), job: "a") }
            #expect(Self.tokens(try await office.mutate(work)).count == 4)
            let digest = try #require(try await office.get("/v1/jobs/a").json["digest"] as? String)
            let sign = #"{"lane": "state", "kind": "signOff", "payload": {"name": "J. Jones", "digest": "\#(digest)"}}"#
            let answer = try await office.mutate([
                try office.mutation(5, sign, job: "a"), try office.mutation(5, sign, job: "b"),
            ])
            #expect(Self.tokens(answer) == [Office.token(5).description])
            #expect(answer.decision["verdict"] as? String == "accepted")
            let job = try await office.get("/v1/jobs/a").json
            let signature = (job["published"] as? [String: String])?["signature"] ?? ""
            #expect(signature.contains(#""serverDigest":"\#(digest)""#))
        }
    }
}
