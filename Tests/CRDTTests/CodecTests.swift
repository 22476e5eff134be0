import Authorship
import CRDT
import Simulation
import Testing

@Suite("The encoding of changes")
struct CodecTests {
    private static func changes(seed: UInt64) -> [Change] {
        var generator = SeededGenerator(seed: seed)
        return Histories.random(replicas: 4, changes: 30, seed: seed).map { written in
            var change = written.change
            if generator.oneIn(3) { change.origin = ReplicaID.random(using: &generator) }
            if generator.oneIn(3) { change.anchor = generator.next() >> 20 }
            return change
        }
    }

    @Test("What was encoded is decoded, one by one and joined", arguments: 1...20 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        let changes = Self.changes(seed: seed)
        #expect(try ChangeCodec.decodeAll(changes.flatMap(ChangeCodec.encode)) == changes)
    }

    @Test("Every truncation is refused, unless it ends a change")
    func truncation() throws {
        let changes = Array(Self.changes(seed: 3).prefix(4))
        let bytes = changes.flatMap(ChangeCodec.encode)
        var ends: Set<Int> = [0]
        for count in 1...changes.count { ends.insert(changes.prefix(count).flatMap(ChangeCodec.encode).count) }
        for length in 0..<bytes.count where !ends.contains(length) {
            #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(Array(bytes[..<length])) }
        }
    }

    @Test("A changed byte is refused or gives another encoding of itself: one change, one form")
    func canonicalForm() throws {
        let bytes = Self.changes(seed: 9).prefix(3).flatMap(ChangeCodec.encode)
        var refused = 0
        var accepted = 0
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                guard let changes = try? ChangeCodec.decodeAll(damaged) else {
                    refused += 1
                    continue
                }
                accepted += 1
                #expect(changes.flatMap(ChangeCodec.encode) == damaged)
            }
        }
        #expect(refused > 0 && accepted > 0)
    }

    @Test("Hostile lengths are refused before anything is allocated")
    func hostileLengths() {
        let huge: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0xFF, 0xFF, 0xFF, 0x7F], [0x80, 0x00],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for bytes in huge { #expect(throws: CodecError.self) { try ChangeCodec.decodeAll(bytes) } }
    }

    @Test("A journal's digest does not depend on how it is cut")
    func digestDoesNotDependOnCuts() throws {
        let records = Self.changes(seed: 4).map(ChangeCodec.encode)
        let whole = try JournalHead.empty.after(records.flatMap(\.self))
        for cut in 0...records.count {
            let first = try JournalHead.empty.after(records[..<cut].flatMap(\.self))
            #expect(try first.after(records[cut...].flatMap(\.self)) == whole)
        }
        let swapped = try JournalHead.empty.after(records.reversed().flatMap(\.self))
        #expect(swapped.digest != whole.digest)
    }

    @Test("An item's blob gives its state back", arguments: 1...30 as ClosedRange<UInt64>)
    func itemBlob(seed: UInt64) throws {
        let state = Histories.state(of: Histories.random(replicas: 4, changes: 25, seed: seed))
        #expect(try ItemStateCodec.decode(ItemStateCodec.encode(state)) == state)
    }

    @Test("The blob that is copied from a single change says the same as the merged one")
    func pristineBlob() throws {
        for change in Self.changes(seed: 8) {
            let bytes = ChangeCodec.encode(change)
            var state = ItemState()
            state.apply(change, in: ReplicaID(7))
            var blob: [UInt8] = []
            try ChangeCodec.scan(bytes) { scanned, buffer in
                ItemStateCodec.encode(only: scanned, in: buffer, of: ReplicaID(7), into: &blob)
            }
            #expect(try ItemStateCodec.decode(blob) == state)
        }
    }
}

@Suite("Clocks, vectors and names")
struct FoundationTests {
    @Test("SipHash-2-4 gives the values of its reference implementation")
    func sipHash() {
        let key = (0x0706_0504_0302_0100 as UInt64, 0x0f0e_0d0c_0b0a_0908 as UInt64)
        let expected: [(count: Int, hash: UInt64)] = [
            (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (8, 0x93f5_f579_9a93_2462),
            (15, 0xa129_ca61_49be_45e5), (63, 0x958a_324c_eb06_4572),
        ]
        for (count, hash) in expected {
            let bytes = (0..<count).map { UInt8($0) }
            #expect(bytes.withUnsafeBytes { SipHash.hash($0, key: key) } == hash, "\(count) bytes")
        }
    }

    @Test("Stamps grow strictly when the clock stands still, goes back, or a peer is ahead")
    func hybridClock() {
        var clock = HybridLogicalClock()
        var last = Stamp.zero
        for now in [10, 10, 10, 4, 11, 2] as [UInt64] {
            let stamp = clock.tick(nowMilliseconds: now)
            #expect(stamp > last)
            last = stamp
        }
        clock.observe(Stamp(milliseconds: 500, counter: 0xFFFF), nowMilliseconds: 12)
        #expect(clock.tick(nowMilliseconds: 12) == Stamp(milliseconds: 501, counter: 0))
    }

    @Test("A vector keeps its entries in order and never goes back by advancing")
    func versionVector() {
        var vector = VersionVector()
        for replica in [5, 1, 9, 3] as [UInt128] {
            let isRaised = vector.advance(ReplicaID(replica), to: JournalHead(sequence: 4, digest: 1))
            #expect(isRaised)
        }
        let isRaisedAgain = vector.advance(ReplicaID(5), to: JournalHead(sequence: 4, digest: 2))
        #expect(!isRaisedAgain)
        #expect(vector.entries.map(\.replica.value) == [1, 3, 5, 9])
        #expect(vector[ReplicaID(2)] == .empty)
        vector.set(ReplicaID(3), to: .empty)
        #expect(vector.entries.map(\.replica.value) == [1, 5, 9])
    }

    @Test("The id of a file's row is a UUID of version 8, tells file and row, and grows with the row")
    func rows() {
        let ids = [0, 1, 2, 4_096, 0xF_FFFF].map { ItemID(row: $0, ofFile: 0xABC, hash: .max / 3 * UInt128($0 % 3)) }
        for id in ids {
            let digits = Array(id.description)
            #expect(digits[14] == "8" && "89ab".contains(digits[19]) && id.description.hasPrefix("abc"))
            #expect(id.file == 0xABC)
        }
        #expect(ids.map(\.row) == [0, 1, 2, 4_096, 0xF_FFFF])
        #expect(ids.sorted() == ids)
        #expect(Set(ids.map { $0.description.prefix(8) }).count == ids.count)
        // All bits of the hash but for the six that the version and the variant take, and what does not fit.
        let all = ItemID(row: 0, ofFile: 0, hash: .max), none = ItemID(row: 0, ofFile: 0, hash: 0)
        #expect((all.value ^ none.value).nonzeroBitCount == 90)
        #expect(ItemID(row: 1 << 20, ofFile: 0, hash: 1) != ItemID(row: 0, ofFile: 0, hash: 2))
    }

    @Test("Ids are read as they are written, and nothing else is")
    func identifiers() {
        var generator = SeededGenerator(seed: 1)
        let item = ItemID(milliseconds: 1_700_000_000_000, using: &generator)
        #expect(ItemID(item.description) == item)
        #expect(item.description.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(Array(item.description)[14] == "7")
        #expect(ItemID(milliseconds: 1_700_000_000_001, using: &generator) > item)
        let replica = ReplicaID.random(using: &generator)
        #expect(ReplicaID(replica.description) == replica)
        #expect(ReplicaID("+" + replica.description.dropFirst()) == nil)
        #expect(JobID("office-2026.11_7")?.text == "office-2026.11_7")
        for text in ["", "a b", "ä", ".", "..", ".smith", String(repeating: "x", count: 65)] {
            #expect(JobID(text) == nil)
        }
        for text in [".", "..", ".smith", "state"] { #expect(JobID.isSpelling(text)) }
        for text in ["", "a b", "a/b", String(repeating: "x", count: 65)] { #expect(!JobID.isSpelling(text)) }
    }
}
