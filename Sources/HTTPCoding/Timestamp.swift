/// A moment in milliseconds since 1970, UTC. In JSON the RFC 3339 form with milliseconds: `2025-03-01T09:30:00.125Z`.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Negative before 1970; leap seconds are not counted.
    package let milliseconds: Int64

    /// Takes any number: `description` alone is bounded.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The earlier one is the lesser.
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// What the RFC 3339 form can say: the years 0 to 9999.
    private static let writable = Int64(-62_167_219_200_000)...253_402_300_799_999

    /// The RFC 3339 form, always with `Z` and three digits of fraction; of what lies beyond it the nearest.
    package var description: String {
        let day = 86_400_000 as Int64
        let shown = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
        let (days, rest) = shown.flooredQuotientAndRemainder(by: day)
        let date = CivilDate(daysSince1970: days)
        let clock =
            Self.digits(rest / 3_600_000, 2) + ":" + Self.digits(rest / 60_000 % 60, 2) + ":"
            + Self.digits(rest / 1000 % 60, 2) + "." + Self.digits(rest % 1000, 3)
        return Self.digits(date.year, 4) + "-" + Self.digits(date.month, 2) + "-" + Self.digits(date.day, 2) + "T"
            + clock + "Z"
    }

    /// Reads what `description` writes; nil for any other form.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let separators: [(Int, Character)] = [
            (4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z"),
        ]
        guard bytes.count == 24, separators.allSatisfy({ bytes[$0.0] == $0.1.asciiValue }) else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), let fraction = number(20..<23),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = CivilDate(year: Int(year), month: Int(month), day: Int(day)).daysSince1970
        milliseconds = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

extension Timestamp: Codable {
    /// Reads the string that `description` writes; throws `DecodingError` for any other form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = Timestamp(text) else {
            throw JSONExpectation("a time of the form 2025-03-01T09:30:00.125Z").fault(at: decoder)
        }
        self = time
    }

    /// Writes the string that `description` is.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
