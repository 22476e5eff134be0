/// An exact decimal number with three digits after the point, so that every laptop gets the same sum whatever the order.
package struct Thousandths: Hashable, Comparable, Sendable {
    /// The sum of nothing.
    package static let zero = Thousandths(0)

    /// The number times 1,000.
    package let rawValue: Int

    /// Takes the number times 1,000, of either sign.
    package init(_ rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Reads a number that is not negative: digits, and a fraction after a point, with spaces around. A comma is
    /// refused, since some mean thousands by it and some a fraction. Digits past the third of the fraction are rounded
    /// half up. Nil for anything else, and from a billion on.
    package init?(parsing text: some StringProtocol) {
        var digits = Array(text.utf8)[...]
        while digits.first == UInt8(ascii: " ") { digits.removeFirst() }
        while digits.last == UInt8(ascii: " ") { digits.removeLast() }
        var value = 0
        var fractionDigits: Int?
        var digitCount = 0
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = Int(byte - UInt8(ascii: "0"))
                digitCount += 1
                switch fractionDigits {
                case nil, 0, 1, 2: value = value * 10 + digit
                case 3: value += digit >= 5 ? 1 : 0
                default: break
                }
                fractionDigits = fractionDigits.map { $0 + 1 }
                guard value < 1_000_000_000_000 else { return nil }
            case UInt8(ascii: "."):
                guard fractionDigits == nil else { return nil }
                fractionDigits = 0
            default:
                return nil
            }
        }
        guard digitCount > 0 else { return nil }
        for _ in min(fractionDigits ?? 0, 3)..<3 { value *= 10 }
        guard value < 1_000_000_000_000 else { return nil }
        rawValue = value
    }

    /// The nearest floating-point number: prints as the exact decimal.
    package var double: Double { Double(rawValue) / 1000 }

    /// Orders as numbers.
    package static func < (left: Thousandths, right: Thousandths) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Sums stop at the greatest number instead of overflowing: a typing error in one item must not end the program.
    package static func + (left: Thousandths, right: Thousandths) -> Thousandths {
        let (sum, overflow) = left.rawValue.addingReportingOverflow(right.rawValue)
        return Thousandths(overflow ? (left.rawValue < 0 ? -.max : .max) : sum)
    }

    /// Adds as `+` does: the sum stops at the greatest number.
    package static func += (left: inout Thousandths, right: Thousandths) {
        left = left + right
    }

    /// The product, rounded half away from zero to a thousandth; at most the greatest number.
    package static func * (left: Thousandths, right: Thousandths) -> Thousandths {
        left.scaled(by: right.rawValue, over: 1000)
    }

    /// `rawValue` × `numerator` ÷ `denominator`, rounded half away from zero; at most the greatest number.
    ///
    /// Total: no three integers end the program. What has no quotient, as a division by zero, counts as too great.
    package func scaled(by numerator: Int, over denominator: Int) -> Thousandths {
        let isNegative = ((rawValue < 0) != (numerator < 0)) != (denominator < 0)
        let product = rawValue.magnitude.multipliedFullWidth(by: numerator.magnitude)
        let divisor = denominator.magnitude
        // From here on the quotient fits 64 bits, which `dividingFullWidth` asks for.
        guard product.high < divisor else { return Thousandths(isNegative ? -.max : .max) }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        let isRoundedUp = remainder >= divisor - remainder
        let magnitude = Int(clamping: min(quotient, UInt(Int.max)) + (isRoundedUp ? 1 : 0))
        return Thousandths(isNegative ? -magnitude : magnitude)
    }
}
