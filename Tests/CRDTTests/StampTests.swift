import CRDT
import Testing

@Suite("Stamps and the clock that issues them")
struct StampTests {
    @Test("A stamp from the end of time neither stops the clock nor brings it there", arguments: [0, 1, 1 << 62])
    func farFuture(distance: UInt64) {
        var clock = HybridLogicalClock(latest: Stamp(milliseconds: 1_000, counter: 0))
        clock.observe(Stamp(rawValue: .max - distance), nowMilliseconds: 2_000)
        for _ in 0..<3 { #expect(clock.tick(nowMilliseconds: 2_000).milliseconds == 2_000) }
        var reopened = HybridLogicalClock(latest: Stamp(rawValue: .max - distance))
        #expect(reopened.tick(nowMilliseconds: 2_000).milliseconds == 2_000)
    }

    @Test("A stamp from beyond the tolerance moves no clock, and one within it does")
    func observing() {
        let edge = 10_000 + HybridLogicalClock.tolerance
        var clock = HybridLogicalClock(latest: Stamp(milliseconds: 9_000, counter: 0))
        clock.observe(Stamp(milliseconds: edge + 1, counter: 0), nowMilliseconds: 10_000)
        #expect(clock.tick(nowMilliseconds: 10_000) == Stamp(milliseconds: 10_000, counter: 0))
        clock.observe(Stamp(milliseconds: edge, counter: 0), nowMilliseconds: 10_000)
        #expect(clock.tick(nowMilliseconds: 10_000) == Stamp(milliseconds: edge, counter: 1))
    }

    @Test("Who writes on top of a future stamp goes beyond it there, and nowhere else")
    func onTopOfTheFuture() {
        var clock = HybridLogicalClock()
        let future = Stamp(milliseconds: 90_000_000, counter: 7)
        #expect(clock.tick(nowMilliseconds: 10_000, after: future) == future.next)
        #expect(clock.tick(nowMilliseconds: 10_000).milliseconds == 10_000)
        #expect(clock.tick(nowMilliseconds: 10_000, after: .greatest) == .greatest)
    }

    @Test("A clock that was put back by hours goes on from the right time")
    func putRight() {
        var clock = HybridLogicalClock()
        _ = clock.tick(nowMilliseconds: 50_000_000)
        #expect(clock.tick(nowMilliseconds: 10_000_000) == Stamp(milliseconds: 10_000_000, counter: 0))
        // By less than the tolerance its stamps still only grow.
        #expect(clock.tick(nowMilliseconds: 9_900_000) == Stamp(milliseconds: 10_000_000, counter: 1))
    }

    @Test("No stamp is followed by one beyond the greatest")
    func greatest() {
        #expect(Stamp.greatest.next == .greatest)
        #expect(Stamp(rawValue: .max).next == .greatest)
        #expect(Stamp(rawValue: Stamp.greatest.rawValue - 1).next == .greatest)
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
