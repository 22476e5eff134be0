import CRDT
import Testing

@Suite("Searching in order, and by beginnings")
struct SearchTests {
    @Test("The first of the second part is found in lists of any length", arguments: 0...9)
    func partition(count: Int) {
        let list = (0..<count).map { $0 * 2 }
        for wanted in -1...20 {
            let expected = list.firstIndex { $0 >= wanted } ?? count
            #expect(list.partitioningIndex { $0 >= wanted } == expected)
        }
    }

    @Test("An id begins with its digits; nothing is the beginning of none, and spelling is told apart by bytes")
    func beginnings() {
        #expect("0190ab".begins(with: "0190") && "0190ab".begins(with: "0190ab"))
        #expect(!"0190ab".begins(with: "") && !"0190ab".begins(with: "0190abc") && !"0190ab".begins(with: "190"))
        #expect(!"caf\u{E9}".begins(with: "cafe\u{301}"))
    }

    @Test("A prefix stands for all ids that begin with it")
    func range() throws {
        let ids = try #require(ClosedRange<UInt128>(hexadecimalPrefix: "0a"))
        let least = UInt128(0x0A00_0000_0000_0000) << 64
        #expect(ids.lowerBound == least)
        #expect(ids.upperBound == least + (UInt128(1) << 120 - 1))
        let whole = String(repeating: "f", count: 32)
        #expect(ClosedRange<UInt128>(hexadecimalPrefix: whole)?.lowerBound == UInt128.max)
        for other in ["", whole + "f", "x", "+1", "0 ", "0\u{E9}"] {
            #expect(ClosedRange<UInt128>(hexadecimalPrefix: other) == nil)
        }
    }
}
