import CRDT
import Testing

@testable import Inventory

struct ThousandthsTests {
    @Test(
        "Decimal numbers are read exactly",
        arguments: [
            ("0", 0), ("1.5", 1500), (" 12 ", 12_000), (".25", 250), ("3.", 3000), ("0.0005", 1), ("0.00049", 0),
            ("1.9996", 2000), ("007", 7000), ("999999999.999", 999_999_999_999),
        ])
    func reads(text: String, expected: Int) {
        #expect(Thousandths(parsing: text)?.rawValue == expected)
    }

    @Test(
        "Everything else is refused",
        arguments: ["", " ", ".", "-1", "+1", "1e3", "1,5", "1.2.3", "1 000", "nan", "١", "1000000000", "９"])
    func refuses(text: String) {
        #expect(Thousandths(parsing: text) == nil)
    }

    @Test("Sums and products stop at the greatest number")
    func saturates() {
        let greatest = Thousandths(.max)
        #expect(greatest + Thousandths(1) == greatest)
        #expect(greatest * Thousandths(2000) == greatest)
        #expect(greatest.scaled(by: 7, over: 1) == greatest)
        #expect(Thousandths(1500) * Thousandths(1500) == Thousandths(2250))
    }

    static let extremes: [Int] = [
        0, 1, 2, 7, 499, 500, 999, 1000, 1 << 31, 1 << 32, 1 << 62, .max / 2, .max - 500, .max - 1, .max,
    ]

    @Test("No numbers end the program: each result is the exact one, or the greatest there is")
    func total() {
        var generator = SeededGenerator(seed: 20)
        let numbers = Self.extremes + Self.extremes.map { -$0 } + [.min, .min + 1]
        let random = (0..<60).map { _ in
            Int.random(in: .min ... .max, using: &generator) >> Int.random(in: 0...63, using: &generator)
        }
        for left in numbers + random {
            for right in numbers + random.prefix(10) {
                let sum = Int128(left) + Int128(right)
                #expect((Thousandths(left) + Thousandths(right)).rawValue == Self.bounded(sum))
                #expect((Thousandths(left) * Thousandths(right)).rawValue == Self.exact(left, right, 1000))
                for other in numbers + random.prefix(5) {
                    let scaled = Thousandths(left).scaled(by: right, over: other).rawValue
                    // What a division by zero gives is of no use; that it ends nothing is.
                    if other != 0, scaled != Self.exact(left, right, other) {
                        Issue.record("\(left) × \(right) ÷ \(other) is not \(scaled)")
                    }
                }
            }
        }
    }

    /// Rounded half away from zero, in 128 bits.
    private static func exact(_ left: Int, _ right: Int, _ divisor: Int) -> Int {
        let product = Int128(left) * Int128(right)
        let (quotient, remainder) = product.magnitude.quotientAndRemainder(dividingBy: UInt128(divisor.magnitude))
        let rounded = quotient + (remainder >= UInt128(divisor.magnitude) - remainder ? 1 : 0)
        let magnitude = Int(clamping: rounded)
        return (product < 0) != (divisor < 0) ? -magnitude : magnitude
    }

    private static func bounded(_ value: Int128) -> Int {
        value > Int128(Int.max) ? .max : value < Int128(Int.min) ? -.max : Int(value)
    }
}
