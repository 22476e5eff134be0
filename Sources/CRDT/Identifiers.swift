/// The name of one store: 128 random bits, minted with the store. A restored or cloned store mints a new one (rule R9).
package struct ReplicaID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 0 is the channel, anything else a store.
    package let value: UInt128

    /// Takes any number; `random` mints one.
    package init(_ value: UInt128) {
        self.value = value
    }

    /// Reads 32 hexadecimal digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let value = UInt128(hexadecimalDigits: text, count: 32) else { return nil }
        self.value = value
    }

    /// The server's journal of a job, the channel: its sequences are the ordering ids (rule R7). No store has this name.
    package static let channel = ReplicaID(0)

    /// Mints a new id.
    package static func random(using generator: inout some RandomNumberGenerator) -> ReplicaID {
        ReplicaID(UInt128.random(in: 1...UInt128.max, using: &generator))
    }

    /// Orders as numbers; between equal stamps the greater replica's write wins (rule R1).
    package static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.value < right.value
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String {
        value.hexadecimalDigits(count: 32)
    }
}

/// The universal id of an item: a UUID of version 7 (RFC 9562 section 5.7), or of version 8 where it follows from what the item
/// is made of; never used again.
///
/// Ids of one device grow with time, so that a B-tree keyed by them is filled at its end.
package struct ItemID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The UUID's 16 bytes as one big-endian number; 0 is the job's own item.
    package let value: UInt128

    /// The reserved item that carries the properties of the job itself (its name, its kind).
    package static let job = ItemID(0)

    /// Takes any number, also one that is no UUID.
    package init(_ value: UInt128) {
        self.value = value
    }

    /// A UUID of version 7: 48 bits of milliseconds, 4 of version, 12 random, 2 of variant, 62 random.
    package init(milliseconds: UInt64, using generator: inout some RandomNumberGenerator) {
        let random = UInt128.random(in: 0...UInt128.max, using: &generator)
        let time = UInt128(milliseconds & 0xFFFF_FFFF_FFFF) << 80
        let version = UInt128(0x7) << 76
        let high = (random >> 64 & 0xFFF) << 64
        let variant = UInt128(0b10) << 62
        let low = random & (UInt128(1) << 62 - 1)
        self.init(time | version | high | variant | low)
    }

    /// A UUID of version 8 (RFC 9562 section 5.8), for the row of a file: 12 bits of the file, 20 of the row, 28 and 62 of a hash of
    /// both with 4 of version and 2 of variant between.
    ///
    /// Ids of one file grow with the rows, so that they too are written side by side.
    ///
    /// - Parameters:
    ///   - row: ids grow with it up to `rowsInOrder`; beyond that they only differ.
    ///   - hash: of the file and the row; it alone makes the id universal.
    package init(row: UInt64, ofFile file: UInt16, hash: UInt128) {
        let first = UInt128(file & 0xFFF) << 116 | UInt128(row & 0xF_FFFF) << 96
        let second = (hash >> 76 & 0xFFFF) << 80
        let version = UInt128(0x8) << 76
        let third = (hash >> 64 & 0xFFF) << 64
        let variant = UInt128(0b10) << 62
        let low = hash & (UInt128(1) << 62 - 1)
        self.init(first | second | version | third | variant | low)
    }

    /// How many rows of a file have ids that grow.
    package static let rowsInOrder = 1 << 20

    /// The bits of the file, where it is a row's id.
    package var file: UInt16 { UInt16(truncatingIfNeeded: value >> 116) }

    /// The bits of the row, where it is a row's id.
    package var row: UInt32 { UInt32(truncatingIfNeeded: value >> 96) & 0xF_FFFF }

    /// Reads the usual 8-4-4-4-12 form, with or without hyphens; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let digits = String(decoding: text.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        guard let value = UInt128(hexadecimalDigits: digits, count: 32) else { return nil }
        self.value = value
    }

    /// Orders as numbers: the order of items in exports.
    package static func < (left: ItemID, right: ItemID) -> Bool {
        left.value < right.value
    }

    /// The 8-4-4-4-12 form in lower case.
    package var description: String {
        // Each item that is shown has it.
        String(unsafeUninitializedCapacity: 36) { text in
            var rest = value
            for place in (0..<36).reversed() {
                switch place {
                case 8, 13, 18, 23: text[place] = UInt8(ascii: "-")
                default: text[place] = rest.takeHexadecimalDigit()
                }
            }
            return 36
        }
    }
}

/// The id of a job: 1 to 64 of `A–Z a–z 0–9 . _ -`, not beginning with a dot; a UUIDv7 unless the office chose its own number.
package struct JobID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// In bytes; all characters that are allowed have one.
    package static let longest = 64
    /// As it was given; upper and lower case differ.
    package let text: String

    /// Nil when the text is empty, too long, has another character, or begins with a dot: it stands in paths of URLs, where `.`
    /// and `..` mean something else (RFC 3986 section 5.2.4).
    package init?(_ text: String) {
        guard Self.isSpelling(text), !text.hasPrefix(".") else { return nil }
        self.text = text
    }

    /// Whether a text is 1 to 64 of `A–Z a–z 0–9 . _ -`, as lanes and kinds of requests are too: they stand in no path, and may
    /// begin with a dot.
    package static func isSpelling(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// For a job that nobody has given a number: the 8-4-4-4-12 form of a fresh or derived id.
    package init(_ item: ItemID) {
        text = item.description
    }

    /// Orders by bytes, so that it is the same order in every process.
    package static func < (left: JobID, right: JobID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// The bare `text`.
    package var description: String { text }
}

/// The name of a laptop: 256 bits, the hash of its public key, or random as long as it has none.
package struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first 32 hexadecimal digits.
    package let high: UInt128
    /// The last 32 hexadecimal digits.
    package let low: UInt128

    /// Takes any 256 bits, the more significant half first.
    package init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }

    /// Reads 64 hexadecimal digits; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, let high = UInt128(hexadecimalDigits: text.prefix(32), count: 32),
            let low = UInt128(hexadecimalDigits: text.suffix(32), count: 32)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Mints an id that is not (yet) bound to a key.
    package static func random(using generator: inout some RandomNumberGenerator) -> DeviceID {
        let high = UInt128.random(in: 0...UInt128.max, using: &generator)
        return DeviceID(high: high, low: UInt128.random(in: 0...UInt128.max, using: &generator))
    }

    /// The first eight digits: enough for people and for DNS-SD, not for proof.
    package var short: String { String(description.prefix(8)) }

    /// Orders as 256-bit numbers; of two links that cross the one that the lesser device dialled stays.
    package static func < (left: DeviceID, right: DeviceID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        high.hexadecimalDigits(count: 32) + low.hexadecimalDigits(count: 32)
    }
}

extension UInt128 {
    /// Exactly `count` hexadecimal digits, no sign and no prefix; nil for anything else.
    init?(hexadecimalDigits text: some StringProtocol, count: Int) {
        guard text.utf8.count == count, text.utf8.allSatisfy({ UInt8.isHexadecimalDigit($0) }) else { return nil }
        self.init(text, radix: 16)
    }

    /// The last `count` digits, in lower case.
    func hexadecimalDigits(count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { text in
            var rest = self
            for place in (0..<count).reversed() { text[place] = rest.takeHexadecimalDigit() }
            return count
        }
    }

    /// The last digit, in lower case; the number goes on without it.
    fileprivate mutating func takeHexadecimalDigit() -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: self) & 15
        self >>= 4
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits a byte.
    package var hexadecimalDigits: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension UInt8 {
    static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
