import CRDT
import Outbox
import ServerChannel
import Simulation
import Testing

@Suite("Messages of the server channel")
struct MessageTests {
    private static let segments = SegmentList(
        segments: [
            TestAuthor(7).sign(
                JournalSegment(
                    replica: ReplicaID(7), first: 3, head: JournalHead(sequence: 9, digest: .greatest),
                    bytes: [1, 2, 3]), of: JobID(ItemID(1))),
            TestAuthor(server: 8, certificates: [[1], [2, 3]]).sign(
                JournalSegment(
                    replica: .channel, first: 1, head: JournalHead(sequence: 1, digest: 0), bytes: [0]),
                of: JobID(ItemID(1))),
        ], head: 12)

    private static let vector = VersionVector([
        VersionVector.Entry(replica: .channel, head: JournalHead(sequence: 4, digest: 5)),
        VersionVector.Entry(replica: ReplicaID(.max), head: JournalHead(sequence: 1 << 40, digest: 6)),
    ])

    private static let request = MutationRequest(
        token: MutationToken(5), lane: "state", after: MutationToken(4), priority: 255, kind: "advanceState",
        payload: Array("{}".utf8))

    private static var deliveries: [Delivery] {
        get throws {
            let first = MutationRequest(
                token: MutationToken(0), lane: "a", after: nil, priority: 0, kind: "b", payload: [])
            return [
                Delivery(
                    request: TestAuthor(7).asks(request, for: try #require(JobID("job-1"))),
                    job: try #require(JobID("job-1")), knownChannel: 0,
                    author: TestAuthor(7, certificates: [[1], [2, 3]]).author),
                Delivery(request: first, job: try #require(JobID("job-2")), knownChannel: nil),
            ]
        }
    }

    private static var decisions: MutationDecisions {
        get throws {
            let outcomes = Outcome.Verdict.allCases.map {
                Outcome(token: MutationToken(UInt128($0.rawValue)), verdict: $0, reason: "Grund: ü")
            }
            let job = try #require(JobID("job-1"))
            return MutationDecisions(
                outcomes: outcomes, channels: [MutationDecisions.ChannelNews(job: job, news: segments)])
        }
    }

    private static let living = JobHoldings(vector: vector)
    private static let removal = JobRemoval(
        name: "Elm Street",
        heads: VersionVector([
            VersionVector.Entry(
                replica: ReplicaID(7), head: JournalHead(sequence: ChannelLimits.removedSequence, digest: .greatest))
        ]))
    private static let ended = JobHoldings(vector: vector, removal: removal)

    @Test("Each is read as it was written")
    func roundTrips() throws {
        #expect(try SegmentList(protobuf: Self.segments.protobuf()) == Self.segments)
        #expect(try JobHoldings(protobuf: Self.living.protobuf()) == Self.living)
        #expect(try JobHoldings(protobuf: Self.ended.protobuf()) == Self.ended)
        #expect(try JobRemoval(protobuf: Self.removal.protobuf()) == Self.removal)
        let deliveries = try Self.deliveries
        #expect(try [Delivery](protobuf: deliveries.protobuf()) == deliveries)
        let decisions = try Self.decisions
        #expect(try MutationDecisions(protobuf: decisions.protobuf()) == decisions)
        let job = try #require(JobID("job-1"))
        let list = JobChangeList(
            entries: [JobChangeList.Entry(job: job, channel: 3, fingerprint: .max)], cursor: "abc-1", isFromStart: true)
        #expect(try JobChangeList(protobuf: list.protobuf()) == list)
    }

    @Test("Flawed bytes are refused, or read as something else; they never crash")
    func flawed() throws {
        let messages = [
            try Self.segments.protobuf(), try Self.ended.protobuf(), try Self.deliveries.protobuf(),
            try Self.decisions.protobuf(),
        ]
        for bytes in messages {
            for index in bytes.indices {
                for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var damaged = bytes
                    damaged[index] = value
                    Self.readAll(damaged)
                    Self.readAll(Array(bytes[..<index]))
                }
            }
        }
        #expect(throws: MalformedMessage.self) { try SegmentList(protobuf: [0xFF]) }
        let far = JournalHead(sequence: ChannelLimits.removedSequence + 1, digest: 1)
        let endless = [VersionVector.Entry(replica: ReplicaID(7), head: far)]
        #expect(throws: MalformedMessage.self) { try JobRemoval(checkedName: "Elm Street", entries: endless) }
        for (first, last, bytes) in [(0, 1, [1]), (2, 1, [1]), (1, 1 << 40 + 1, [1]), (1, 1, [])]
            as [(UInt64, UInt64, [UInt8])]
        {
            #expect(throws: MalformedMessage.self) {
                try JournalSegment(
                    checkedReplica: ReplicaID(1), first: first, last: last, digest: 0, bytes: bytes, signature: [])
            }
        }
    }

    @Test("A removal's journals are counted as they were sent, also if they are one", arguments: [8_192, 8_193])
    func removalEntries(count: Int) throws {
        // As protobuf packs them: the tag of each column, its bytes, and those themselves.
        func column(_ tag: UInt8, _ entry: [UInt8]) -> [UInt8] {
            let bytes = [[UInt8]](repeating: entry, count: count).flatMap { $0 }
            var length = bytes.count
            var head = [tag]
            while length > 0x7F {
                head.append(UInt8(length & 0x7F) | 0x80)
                length >>= 7
            }
            return head + [UInt8(length)] + bytes
        }
        let replica = [UInt8](repeating: 7, count: 16)
        let bytes = column(0x12, replica) + column(0x1A, [3]) + column(0x2A, [UInt8](repeating: 9, count: 32))
        if count <= ChangeLimits.positions {
            #expect(try JobRemoval(protobuf: bytes).heads.entries.count == 1)
        } else {
            #expect(throws: MalformedMessage.self) { try JobRemoval(protobuf: bytes) }
        }
    }

    @Test("The largest exchange that an outbox begins is one that the server takes")
    func largestExchange() throws {
        let limits = OutboxLimits()
        #expect(limits.inExchange <= ChannelLimits.mutations)
        let name = String(repeating: "n", count: 64)
        let job = try #require(JobID(name))
        let each = limits.exchangeBytes / limits.inExchange
        let largest = (0..<limits.inExchange).map { number in
            let request = MutationRequest(
                token: MutationToken(.max), lane: name, after: MutationToken(.max), priority: 255, kind: name,
                payload: [UInt8](repeating: UInt8(number), count: each))
            return Delivery(request: request, job: job, knownChannel: ChangeLimits.sequence)
        }
        #expect(try largest.protobuf().count < ChannelLimits.bodyBytes)
    }

    private static func readAll(_ bytes: [UInt8]) {
        _ = try? SegmentList(protobuf: bytes)
        _ = try? JobHoldings(protobuf: bytes)
        _ = try? JobRemoval(protobuf: bytes)
        _ = try? [Delivery](protobuf: bytes)
        _ = try? MutationDecisions(protobuf: bytes)
        _ = try? JobChangeList(protobuf: bytes)
    }
}
