import CRDT
import Simulation
import Testing

@Suite("Statements and stubs")
struct StatementTests {
    private static let anna = ReplicaID(1)
    private static let bert = ReplicaID(2)

    private static let fold = Fold(
        bounds: [Position(replica: anna, sequence: 40), Position(replica: bert, sequence: 7)], members: [anna, bert],
        items: [ItemID(3), ItemID(1 << 100)],
        journals: [
            Fold.Journal(
                replica: anna,
                runs: [Fold.Run(1...1, digest: 77), Fold.Run(2...9, digest: 0), Fold.Run(11...40, digest: 5)]),
            Fold.Journal(replica: bert, runs: [Fold.Run(2...2, digest: .max)]),
        ])

    private static let operations: [Operation] = [
        .hold([]), .hold([Position(replica: anna, sequence: 3), Position(replica: bert, sequence: 1 << 40)]),
        .expel(bert, known: 12), .fold(fold), .removeJob([Position(replica: bert, sequence: 9)]),
        .decide(anna, upTo: 5),
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
        let elsewhere = Change(item: ItemID(4), stamp: Stamp(rawValue: 9), operations: [.decide(Self.anna, upTo: 1)])
        let twice = [Position(replica: Self.bert, sequence: 1), Position(replica: Self.bert, sequence: 2)]
        let many = (1...300).map { Position(replica: ReplicaID(UInt128($0)), sequence: 1) }
        let far = [Position(replica: Self.bert, sequence: 1 << 40 + 1)]
        for positions in [twice, twice.reversed(), many, far] {
            let change = Change(item: .job, stamp: .zero, operations: [.hold(positions)])
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(change)) }
        }
        #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(elsewhere)) }
    }

    @Test("A journal with stubs has the digest and the sequences of the whole one, at each change")
    func stubs() throws {
        let changes = Histories.random(replicas: 3, changes: 30, seed: 5).map(\.change)
        let records = changes.map(ChangeCodec.encode)
        let stubs = try records.map(Self.stub)
        for start in stride(from: 0, to: 30, by: 7) {
            for end in start + 1...30 {
                let bytes = records[..<start] + stubs[start..<end] + records[end...]
                var (whole, folded) = (JournalHead.empty, JournalHead.empty)
                for (record, other) in zip(records, bytes) {
                    whole = try JournalDigest.extend(whole, with: record)
                    folded = try JournalDigest.extend(folded, with: other)
                    #expect(folded == whole)
                }
                let left = try ChangeCodec.decodeAll(bytes.flatMap(\.self))
                #expect(left == Array(changes[..<start] + changes[end...]))
            }
        }
    }

    @Test("Before a stub, too, another content leads to another digest")
    func stubsHideNothing() throws {
        let records = Histories.random(replicas: 3, changes: 3, seed: 5).map { ChangeCodec.encode($0.change) }
        let other = ChangeCodec.encode(
            Change(item: ItemID(9), stamp: Stamp(rawValue: 1), operations: [.append(list: "notes", entry: "another")]))
        let stub = try Self.stub(records[1])
        #expect(
            try JournalDigest.extend(.empty, with: records[0] + stub + records[2])
                != JournalDigest.extend(.empty, with: other + stub + records[2]))
    }

    private static func stub(_ record: [UInt8]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ChangeCodec.scan(record) { scanned, buffer in bytes += JournalStub(scanned, in: buffer).bytes }
        return bytes
    }

    @Test("A stub of nothing, or of more than a change has, is refused")
    func hostileStubs() {
        for count in [0, 257, 1 << 40, .max] as [UInt64] {
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(JournalStub(count: count, hash: 1).bytes) }
        }
        #expect(throws: Never.self) { try ChangeCodec.decodeAll(JournalStub(count: 256, hash: 1).bytes) }
    }
}
