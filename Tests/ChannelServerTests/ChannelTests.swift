import Authorship
import CRDT
import Foundation
import Identity
import NIOHTTP1
import ServerChannel
import Simulation
import Testing

@testable import ChannelServer

/// The API over the loopback.
@Suite("The server channel", .timeLimit(.minutes(1)))
struct ChannelTests {
    private static let open = #"{"lane": "state", "kind": "openJob", "payload": {"name": "Jones", "kind": "pickup"}}"#

    private static func advance(_ state: String, after: UInt64) -> String {
        """
        {"lane": "state", "after": "\(Office.token(after))", "kind": "advanceState", "payload": {"state": "\(state)"}}
        """
    }

    @Test("A job is opened, worked, signed and completed, and the office sees it")
    func wholeDay() async throws {
        try await Office.open { office in
            #expect(try await office.mutate(1, Self.open).decision["verdict"] as? String == "accepted")
            var journal = try office.journal(7)
            #expect(try await office.upload([journal.add(["Sofa", "Lamp"])]).status == 200)
            for (token, state) in [(2, "dispatched"), (3, "inProgress"), (4, "awaitingSignature")]
                as [(UInt64, String)]
            {
                let answer = try await office.mutate(token, Self.advance(state, after: token - 1))
                #expect(answer.decision["verdict"] as? String == "accepted")
            }
            let seen = try await office.get("/v1/jobs/\(Office.job)").json
            #expect(seen["state"] as? String == "awaitingSignature" && seen["items"] as? Int == 2)
            let digest = try #require(seen["digest"] as? String)
            let sign = #"{"lane": "state", "kind": "signOff", "payload": {"name": "J. Jones", "digest": "\#(digest)"}}"#
            #expect(try await office.mutate(5, sign).decision["verdict"] as? String == "accepted")
            #expect(
                try await office.mutate(6, Self.advance("completed", after: 5)).decision["verdict"] as? String
                    == "accepted"
            )
            let refused = try await office.mutate(8, Self.advance("cancelled", after: 6)).decision
            #expect(refused["verdict"] as? String == "rejected")
            #expect((refused["reason"] as? String)?.contains("completed") == true)

            let job = try await office.get("/v1/jobs/\(Office.job)").json
            let published = try #require(job["published"] as? [String: String])
            #expect(published["state"] == "completed" && job["name"] as? String == "Jones")
            let signature = try #require(published["signature"])
            #expect(
                signature.contains(#""digest":"\#(digest)""#) && signature.contains(#""serverDigest":"\#(digest)""#))
            let items = try await office.get("/v1/jobs/\(Office.job)/items?limit=1")
            #expect(String(decoding: items.bytes, as: UTF8.self).contains("Sofa"))
        }
    }

    @Test("A repetition has the answer of the first time, and the key serves for nothing else")
    func repetition() async throws {
        try await Office.open { office in
            let first = try await office.mutate(1, Self.open, channel: 0)
            let again = try await office.mutate(1, Self.open, channel: 0)
            #expect(first.bytes == again.bytes)
            let other = try await office.mutate(1, Self.open.replacing("Jones", with: "Smith"))
            #expect(other.status == 422 && other.code == "keyReused")
            let early = try await office.mutate(3, Self.advance("inProgress", after: 2))
            #expect(early.status == 409 && early.code == "predecessorMissing")
            #expect(early.json["token"] as? String == Office.token(2).description)
            let dropped = try await office.ask(.DELETE, "/v1/jobs/\(Office.job)/mutations/\(Office.token(2))")
            #expect(dropped.json["verdict"] as? String == "withdrawn")
            let late = try await office.mutate(3, Self.advance("dispatched", after: 2))
            #expect(late.decision["verdict"] as? String == "accepted")
            let asked = try await office.get("/v1/jobs/\(Office.job)/mutations/\(Office.token(3))")
            #expect(asked.json["verdict"] as? String == "accepted")
        }
    }

    @Test("A server that holds less of the channel than who delivers decides nothing")
    func setBack() async throws {
        try await Office.open { office in
            let first = try await office.mutate(1, Self.advance("dispatched", after: 9), channel: 7)
            #expect(first.status == 409 && first.code == "channelBehind")
            let unordered = #"{"lane": "state", "kind": "advanceState", "payload": {"state": "dispatched"}}"#
            #expect(try await office.mutate(2, unordered, channel: 7).code == "channelBehind")
            #expect(try await office.get("/v1/jobs/\(Office.job)").code == "unknownJob")
            // What it has decided it still knows.
            let opened = try await office.mutate(3, Self.open, channel: 0)
            #expect(
                try await office.mutate(3, Self.open, channel: 99).decision["token"] as? String == opened.decision[
                    "token"]
                    as? String)
            #expect(try await office.mutate(2, unordered, channel: 99).code == "channelBehind")
            #expect(try await office.mutate(2, unordered).decision["verdict"] as? String == "accepted")
        }
    }

    @Test("A run that cannot be read is malformed also where the journal is held already")
    func malformedRepetition() async throws {
        try await Office.open { office in
            var journal = try office.journal(7)
            let run = try journal.add(["Sofa", "Lamp"])
            #expect(try await office.upload([run]).status == 200)
            for bytes in [run.bytes + [9, 1], Array(run.bytes.dropLast()), [UInt8](repeating: 0xFF, count: 40)] {
                let odd = JournalSegment(replica: run.replica, first: 1, head: run.head, bytes: bytes)
                let answer = try await office.upload([odd])
                #expect(answer.status == 422 && answer.code == "malformed")
                let other = JournalHead(sequence: run.head.sequence, digest: 1)
                let forked = JournalSegment(replica: run.replica, first: 1, head: other, bytes: bytes)
                #expect(try await office.upload([forked]).code == "malformed")
            }
        }
    }

    @Test("The channel says the same in both languages, packed or not, and its ids have no gap")
    func languages() async throws {
        try await Office.open { office in
            _ = try await office.mutate(1, Self.open)
            for token in 2...40 as ClosedRange<UInt64> { _ = try await office.mutate(token, Self.open) }
            let path = "/v1/jobs/\(Office.job)/channel"
            let readable = try await office.get(path)
            let entries = try #require(readable.json["entries"] as? [[String: Any]])
            var next = 1
            for entry in entries {
                #expect(entry["id"] as? Int == next)
                next = (entry["last"] as? Int ?? 0) + 1
            }
            #expect(readable.json["head"] as? Int == next - 1)

            let binary = try await office.get(path, ["Accept": ChannelHeader.protobuf])
            let list = try SegmentList(protobuf: binary.bytes)
            let segment = try #require(list.segments.first)
            #expect(try JournalHead.empty.after(segment.bytes) == segment.head)
            #expect(list.head == UInt64(next - 1) && segment.head.sequence == list.head)

            let packed = try await office.get(path, ["Accept-Encoding": "gzip"])
            #expect(packed.headers.first(name: "Content-Encoding") == "gzip")
            #expect(try Gzip.unpack(packed.bytes, limit: 1 << 20) == readable.bytes)

            // Page by page it is the same.
            var joined: [UInt8] = []
            var after: UInt64 = 0
            while after < list.head {
                let page = try await office.get("\(path)?after=\(after)&limit=7", ["Accept": ChannelHeader.protobuf])
                let run = try #require(try SegmentList(protobuf: page.bytes).segments.first)
                #expect(run.first == after + 1)
                joined += run.bytes
                after = run.head.sequence
            }
            #expect(joined == segment.bytes)
        }
    }

    @Test("A poll that waits is answered when there is news, and empty when its time is over")
    func waiting() async throws {
        try await Office.open { office in
            _ = try await office.mutate(1, Self.open)
            let head = try await office.get("/v1/jobs/\(Office.job)/channel").json["head"] as? Int ?? 0
            let cursor = try await office.get("/v1/jobs").json["cursor"] as? String ?? ""
            let start = ContinuousClock.now
            async let channel = office.get("/v1/jobs/\(Office.job)/channel?after=\(head)&wait=30")
            async let jobs = office.get("/v1/jobs?since=\(cursor)&wait=30")
            async let other = office.get("/v1/jobs/\(Office.job)/channel?after=\(head + 2)&wait=1")
            // Whether or not the polls are waiting already, they have to see this.
            _ = try await office.mutate(2, Self.advance("dispatched", after: 1))
            #expect(((try await channel).json["entries"] as? [Any])?.count == 1)
            #expect(((try await jobs).json["jobs"] as? [Any])?.count == 1)
            #expect(start.duration(to: .now) < .seconds(10))
            _ = try await other
            let empty = try await office.get("/v1/jobs/\(Office.job)/channel?after=\(head + 2)&wait=1")
            #expect((empty.json["entries"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("What is uploaded is accepted in the channel, once; gaps and odd bytes are refused whole")
    func uploads() async throws {
        try await Office.open { office in
            var journal = try office.journal(7)
            let (first, second, third) = (try journal.add(["a"]), try journal.add(["b"]), try journal.add(["c"]))
            let answer = try await office.upload([first])
            #expect(try JobHoldings(protobuf: answer.bytes).vector[journal.replica] == first.head)
            let gap = try await office.upload([third])
            #expect(gap.status == 409 && gap.code == "journalGap" && gap.json["sequence"] as? Int == 1)
            #expect(try await office.upload([first, second, third]).status == 200)
            let broken = JournalSegment(
                replica: ReplicaID(8), first: 1, head: JournalHead(sequence: 1, digest: 3), bytes: [9, 9, 9])
            #expect(try await office.upload([broken], job: "other").code == "malformed")
            #expect(try await office.get("/v1/jobs/other").status == 404, "nothing is left of it")
            let others = try office.fleet.chain(TestSigner(8).key, as: .server)
            let channel = try TestAuthor(server: 8, certificates: others).segment(
                first.bytes, of: #require(JobID(Office.job)))
            #expect(try await office.upload([channel]).code == "channelUpload")

            let accepted = try await office.get("/v1/jobs/\(Office.job)/channel?wait=10")
            #expect(String(decoding: accepted.bytes, as: UTF8.self).contains(journal.replica.description))
            let back = try await office.get(
                "/v1/jobs/\(Office.job)/journals/\(journal.replica)", ["Accept": ChannelHeader.protobuf])
            #expect(
                try SegmentList(protobuf: back.bytes).segments.first?.bytes == first.bytes + second.bytes + third.bytes)
            let packed = try #require(Gzip.pack(try SegmentList(segments: [first]).protobuf()))
            let again = try await office.ask(
                .POST, "/v1/jobs/\(Office.job)/journals", ["Content-Encoding": "gzip"], body: packed,
                type: ChannelHeader.protobuf)
            #expect(again.status == 200)
        }
    }

    @Test("A long journal comes down in runs that a laptop stores without holding its people up")
    func longJournal() async throws {
        try await Office.open { office in
            var anna = try office.journal(7)
            let name = String(repeating: "wardrobe ", count: 100)
            for _ in 0..<12 {
                #expect(try await office.upload([anna.add([String](repeating: name, count: 64))]).status == 200)
            }
            var held: UInt64 = 0
            var answers = 0
            while true {
                let answer = try await office.get(
                    "/v1/jobs/\(Office.job)/journals/\(anna.replica)?after=\(held)", ["Accept": ChannelHeader.protobuf])
                let runs = try SegmentList(protobuf: answer.bytes).segments
                guard !runs.isEmpty else { break }
                answers += 1
                for run in runs {
                    #expect(run.first == held + 1)
                    #expect(run.bytes.count < 192 << 10)
                    held = run.head.sequence
                }
            }
            #expect(held == anna.head.sequence)
            #expect(answers == 2, "some 700 KiB")
        }
    }

    @Test("Of a forked journal one branch stays, the same whichever comes first", arguments: [true, false])
    func forks(leftFirst: Bool) async throws {
        try await Office.open { office in
            var (left, right) = (try office.journal(7), try office.journal(7))
            let common = try left.add(["a", "b"])
            _ = try right.add(["a", "b"])
            let (leftRun, rightRun) = (try left.add(["c"]), try right.add(["x", "y"]))
            #expect(try await office.upload([common, leftFirst ? leftRun : rightRun]).status == 200)
            let answer = try await office.upload([leftFirst ? rightRun : leftRun])
            let held = try JobHoldings(
                protobuf: try await office.get("/v1/jobs/\(Office.job)/vector", ["Accept": ChannelHeader.protobuf])
                    .bytes
            ).vector
            if answer.status == 409 {
                #expect(answer.code == "journalForked" && answer.json["sequence"] as? Int == 2)
                #expect(held[left.replica] == (leftFirst ? leftRun : rightRun).head)
            } else {
                #expect(held[left.replica] == (leftFirst ? rightRun : leftRun).head)
            }
            // Nothing is lost: what went is there under another name, or its laptop has been told to write it again.
            let items = String(decoding: try await office.get("/v1/jobs/\(Office.job)/items").bytes, as: UTF8.self)
            #expect(items.contains("\"a\"") && items.contains("\"b\""))
        }
    }

    @Test("A removal of as many journals as there may be is taken as JSON, and a longer body is not")
    func largestRemoval() async throws {
        try await Office.open { office in
            let digest = String(repeating: "f2", count: 32)
            let entries = (1...ChangeLimits.positions).map { number in
                let replica = ReplicaID(UInt128(number) << 64)
                return
                    #"{"replica": "\#(replica)", "sequence": \#(ChannelLimits.removedSequence), "digest": "\#(digest)"}"#
            }
            let body = #"{"name": "Smith", "entries": [\#(entries.joined(separator: ", "))]}"#
            let path = "/v1/jobs/\(Office.job)/removal"
            #expect(try await office.ask(.PUT, path, body: Array(body.utf8)).status == 200)
            let padding = String(repeating: " ", count: ChannelLimits.removalBytes)
            let longer = try await office.ask(.PUT, path, body: Array((body + padding).utf8))
            #expect(
                longer.status == 413
                    && longer.json["detail"] as? String == "The body is larger than 2 MiB; send it in smaller ones.")
        }
    }

    // A 503 ended the laptop's round, and with it the only way of what the server lacked of other jobs.
    @Test("A server that recovers refuses a branch for which it would have to write, and holds what it held")
    func forkWhileRecovering() async throws {
        try await Office.open(isRecovering: true) { office in
            var codes: Set<String?> = []
            for number in 0..<16 {
                let job = "job-\(number)"
                var (left, right) = (try office.journal(7, of: job), try office.journal(7, of: job))
                #expect(try await office.upload([left.add(["a\(number)"])], job: job).status == 200)
                let answer = try await office.upload([right.add(["b", "c"])], job: job)
                #expect(answer.status == 409)
                codes.insert(answer.code)
                let bytes = try await office.get("/v1/jobs/\(job)/vector", ["Accept": ChannelHeader.protobuf]).bytes
                #expect(try JobHoldings(protobuf: bytes).vector[left.replica] == left.head)
            }
            #expect(codes == ["journalForked", "channelBehind"])
        }
    }
}
