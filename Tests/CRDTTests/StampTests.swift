import CRDT
import Testing

@Suite("Stamps and the clock that issues them")
struct StampTests {
    @Test("A stamp from the end of time neither stops the clock nor brings it there", arguments: [0, 1, 1 << 62])
    func farFuture(distance: UInt64) {
        var clock = HybridLogicalClock(latest: Stamp(milliseconds: 1_000, counter: 0))
        clock.observe(Stamp(rawValue: .max - distance))
        for _ in 0..<3 { #expect(clock.tick(nowMilliseconds: 2_000).milliseconds == 2_000) }
        var reopened = HybridLogicalClock(latest: Stamp(rawValue: .max - distance))
        #expect(reopened.tick(nowMilliseconds: 2_000).milliseconds == 2_000)
    }

    @Test("A change with such a stamp is refused")
    func refused() {
        let set = Operation.set(field: "name", value: "Sofa", replaces: [])
        let change = { Change(item: ItemID(1), stamp: $0, operations: [set]) }
        #expect(throws: CodecError.self) {
            try ChangeCodec.decodeAll(ChangeCodec.encode(change(Stamp(rawValue: Stamp.greatest.rawValue + 1))))
        }
        #expect(throws: Never.self) { try ChangeCodec.decodeAll(ChangeCodec.encode(change(.greatest))) }
    }
}
