import Inventory

/// A JSON object whose values are strings (RFC 8259): what a mutation carries. Written with its keys in order of bytes.
package struct FlatJSON: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var members: [String: String] = [:]

    /// Of a key that stands there twice the last counts.
    package init(dictionaryLiteral pairs: (String, String)...) {
        for (key, value) in pairs { members[key] = value }
    }

    /// Nil for anything but one object of strings. Of a key that stands there twice the last counts.
    package init?(parsing bytes: [UInt8]) {
        var reader = FlatJSONReader(bytes: bytes)
        guard let members = reader.readDocument() else { return nil }
        self.members = members
    }

    /// Nil for a member that is absent; to set nil takes it out.
    package subscript(key: String) -> String? {
        get { members[key] }
        set { members[key] = newValue }
    }

    /// The object in UTF-8, without white space, its keys ascending by their bytes.
    package var bytes: [UInt8] {
        var bytes = [UInt8(ascii: "{")]
        let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (index, member) in ordered.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: member.key)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(jsonString: member.value)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// `bytes` as a string.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Reads from the front; each function returns nil where the grammar ends.
private struct FlatJSONReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readDocument() -> [String: String]? {
        var members: [String: String] = [:]
        guard consume("{") else { return nil }
        if !consume("}") {
            repeat {
                guard let key = readString(), consume(":"), let value = readString() else { return nil }
                members[key] = value
            } while consume(",")
            guard consume("}") else { return nil }
        }
        skipSpace()
        return at == bytes.count ? members : nil
    }

    private mutating func skipSpace() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func readString() -> String? {
        guard consume("\"") else { return nil }
        var text: [UInt8] = []
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = readEscape() else { return nil }
                text.append(contentsOf: Array(String(Character(scalar)).utf8))
            case ..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func readEscape() -> Unicode.Scalar? {
        guard at < bytes.count else { return nil }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return readCodePoint()
        default: return nil
        }
    }

    /// Four hexadecimal digits, or twice so many that are a surrogate pair (RFC 8259 section 7).
    private mutating func readCodePoint() -> Unicode.Scalar? {
        guard let first = readFourDigits() else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
            return nil
        }
        at += 2
        guard let second = readFourDigits(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func readFourDigits() -> UInt32? {
        guard at + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 + UInt32(digit)
        }
        at += 4
        return value
    }
}
