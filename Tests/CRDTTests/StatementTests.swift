import CRDT
import Simulation
import Testing

@Suite("Statements")
struct StatementTests {
    private static let anna = ReplicaID(1)
    private static let bert = ReplicaID(2)

    private static func removal(_ name: String, _ heads: (ReplicaID, UInt64, UInt64)...) -> JobRemoval {
        JobRemoval(
            name: name,
            heads: VersionVector(
                heads.map {
                    VersionVector.Entry(replica: $0.0, head: JournalHead(sequence: $0.1, digest: JournalDigest($0.2)))
                }))
    }

    private static let operations: [Operation] = [
        .acknowledge([]),
        .acknowledge([Position(replica: anna, sequence: 3), Position(replica: bert, sequence: 1 << 40)]),
        .removeJob(removal("Elm Street", (anna, 4, .max), (bert, 9, 7))), .removeJob(removal("")),
        .decide([ChangeIdentity(5), ChangeIdentity(6), ChangeIdentity(.max)]),
    ]

    @Test("Each is read as it was written, and means nothing to the item")
    func roundTrip() throws {
        for operation in Self.operations {
            let change = Change(item: .job, stamp: Stamp(rawValue: 9), operations: [operation])
            #expect(try ChangeCodec.decodeAll(ChangeCodec.encode(change)) == [change])
            var state = ItemState()
            state.apply(change, in: Self.anna)
            #expect(state == ItemState())
        }
        let all = Change(item: .job, stamp: Stamp(rawValue: 9), operations: Self.operations)
        let bytes = ChangeCodec.encode(all)
        #expect(try ChangeCodec.decodeAll(bytes) == [all])
        for length in 1..<bytes.count {
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(Array(bytes[..<length])) }
        }
    }

    @Test("A changed byte is refused or gives another encoding of itself")
    func canonicalForm() throws {
        let bytes = ChangeCodec.encode(Change(item: .job, stamp: Stamp(rawValue: 9), operations: Self.operations))
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                guard let changes = try? ChangeCodec.decodeAll(damaged) else { continue }
                #expect(changes.flatMap(ChangeCodec.encode) == damaged)
            }
        }
    }

    @Test("They stand on the job's own item only, and in order")
    func refused() {
        let elsewhere = Change(
            item: ItemID(4), stamp: Stamp(rawValue: 9), operations: [.decide([ChangeIdentity(1)])])
        #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(elsewhere)) }
        let twice = [Position(replica: Self.bert, sequence: 1), Position(replica: Self.bert, sequence: 2)]
        let many = (1...ChangeLimits.positions + 1).map { Position(replica: ReplicaID(UInt128($0)), sequence: 1) }
        let far = [Position(replica: Self.bert, sequence: 1 << 40 + 1)]
        for positions in [twice, twice.reversed(), many, far] {
            let change = Change(item: .job, stamp: .zero, operations: [.acknowledge(positions)])
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(change)) }
        }
        for decided in [[ChangeIdentity(2), ChangeIdentity(2)], [ChangeIdentity(3), ChangeIdentity(2)]] {
            let change = Change(item: .job, stamp: .zero, operations: [.decide(decided)])
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(change)) }
        }
    }

    @Test("A removal that names 8,192 journals fits a change")
    func manyJournals() throws {
        let heads = (1...ChangeLimits.positions).map {
            VersionVector.Entry(
                replica: ReplicaID(UInt128($0) << 64), head: JournalHead(sequence: 1 << 40, digest: .greatest))
        }
        let removal = JobRemoval(name: "Elm Street", heads: VersionVector(heads))
        let bytes = ChangeCodec.encode(Change(item: .job, stamp: .zero, operations: [.removeJob(removal)]))
        #expect(bytes.count < ChangeLimits.changeBytes)
        #expect(try ChangeCodec.decodeAll(bytes).first?.operations == [.removeJob(removal)])
    }

    @Test("Removals amount to the same in whatever order they come", arguments: 0..<50)
    func merging(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let removals = (0..<4).map { number in
            JobRemoval(
                name: "name \(number % 2)",
                heads: VersionVector(
                    (1...5 as ClosedRange<UInt128>).compactMap { replica -> VersionVector.Entry? in
                        guard generator.oneIn(2) else { return nil }
                        let head = JournalHead(
                            sequence: .random(in: 1...3, using: &generator),
                            digest: JournalDigest(UInt64.random(in: 0...2, using: &generator)))
                        return VersionVector.Entry(replica: ReplicaID(replica), head: head)
                    }))
        }
        func merged(_ removals: [JobRemoval]) -> JobRemoval {
            removals.dropFirst().reduce(removals[0]) { $0.merged(with: $1) }
        }
        let all = merged(removals)
        for _ in 0..<10 { #expect(merged(removals.shuffled(using: &generator)) == all) }
        for removal in removals {
            #expect(all.covers(removal))
            #expect(all.merged(with: removal) == all)
            for entry in removal.heads.entries { #expect(all.covers(entry.head.sequence, of: entry.replica)) }
        }
    }

    @Test("A name that is too long is cut at a character")
    func longName() {
        let removal = JobRemoval(name: String(repeating: "ü", count: 600), heads: VersionVector())
        #expect(removal.name == String(repeating: "ü", count: 256))
    }
}
