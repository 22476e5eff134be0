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
}
