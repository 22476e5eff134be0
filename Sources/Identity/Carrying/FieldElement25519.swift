/// A number modulo 2²⁵⁵ − 19, always below that. How long an operation takes depends on the numbers: only what everybody may know
/// goes through it.
struct FieldElement25519: Equatable {
    /// Four of 64 bits, the least first.
    private let words: [UInt64]

    private static let prime: [UInt64] = [0xFFFF_FFFF_FFFF_FFED, .max, .max, 0x7FFF_FFFF_FFFF_FFFF]

    static let one = FieldElement25519(1)

    init(_ small: UInt64) { words = [small, 0, 0, 0] }

    /// Takes 32 bytes, the least first, without the highest bit (RFC 7748 section 5).
    init(littleEndian bytes: some Collection<UInt8>) {
        var words: [UInt64] = [0, 0, 0, 0]
        for (place, byte) in bytes.enumerated() { words[place / 8] |= UInt64(byte) << (8 * (place % 8)) }
        words[3] &= 0x7FFF_FFFF_FFFF_FFFF
        self.init(reducing: words)
    }

    /// - Parameter words: any four.
    private init(reducing words: [UInt64]) {
        var words = words
        while !Self.isBelow(words, Self.prime) { words = Self.difference(words, Self.prime) }
        self.words = words
    }

    var bytes: [UInt8] { words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } } }

    var isZero: Bool { words.allSatisfy { $0 == 0 } }

    static func + (left: FieldElement25519, right: FieldElement25519) -> FieldElement25519 {
        // Both are below 2²⁵⁵: nothing is carried out of the highest word.
        var sum = left.words
        var carry: UInt64 = 0
        for place in 0..<4 {
            let (first, isFirst) = left.words[place].addingReportingOverflow(right.words[place])
            let (second, isSecond) = first.addingReportingOverflow(carry)
            sum[place] = second
            carry = isFirst || isSecond ? 1 : 0
        }
        return FieldElement25519(reducing: sum)
    }

    static func - (left: FieldElement25519, right: FieldElement25519) -> FieldElement25519 {
        left + FieldElement25519(reducing: difference(prime, right.words))
    }

    static func * (left: FieldElement25519, right: FieldElement25519) -> FieldElement25519 {
        var product = [UInt64](repeating: 0, count: 8)
        for (place, factor) in left.words.enumerated() { add(right.words, times: factor, to: &product, at: place) }
        // 2²⁵⁶ is 38 here: the upper half comes down twice.
        var low = Array(product[..<4]) + [0]
        add(Array(product[4...]), times: 38, to: &low, at: 0)
        var rest = Array(low[..<4]) + [0]
        add([low[4]], times: 38, to: &rest, at: 0)
        var last = Array(rest[..<4]) + [0]
        add([rest[4]], times: 38, to: &last, at: 0)
        return FieldElement25519(reducing: Array(last[..<4]))
    }

    /// What gives one with it; zero for zero. By Fermat: to the power of the prime less two.
    var inverse: FieldElement25519 {
        let exponent = Self.difference(Self.prime, [2, 0, 0, 0])
        var result = Self.one
        for bit in (0..<255).reversed() {
            result = result * result
            if exponent[bit / 64] >> (bit % 64) & 1 == 1 { result = result * self }
        }
        return result
    }

    /// - Parameter sum: long enough for what is carried.
    private static func add(_ words: [UInt64], times factor: UInt64, to sum: inout [UInt64], at start: Int) {
        var carry: UInt64 = 0
        var place = start
        for word in words {
            let product = word.multipliedFullWidth(by: factor)
            let (first, isFirst) = sum[place].addingReportingOverflow(product.low)
            let (second, isSecond) = first.addingReportingOverflow(carry)
            sum[place] = second
            carry = product.high &+ (isFirst ? 1 : 0) &+ (isSecond ? 1 : 0)
            place += 1
        }
        while carry > 0, place < sum.count {
            let (next, isCarried) = sum[place].addingReportingOverflow(carry)
            sum[place] = next
            carry = isCarried ? 1 : 0
            place += 1
        }
    }

    private static func isBelow(_ left: [UInt64], _ right: [UInt64]) -> Bool {
        for place in (0..<4).reversed() where left[place] != right[place] { return left[place] < right[place] }
        return false
    }

    /// - Parameter right: not more than `left`.
    private static func difference(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var result = left
        var borrow: UInt64 = 0
        for place in 0..<4 {
            let (first, isFirst) = left[place].subtractingReportingOverflow(right[place])
            let (second, isSecond) = first.subtractingReportingOverflow(borrow)
            result[place] = second
            borrow = isFirst || isSecond ? 1 : 0
        }
        return result
    }
}
