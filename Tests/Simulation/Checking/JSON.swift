/// Reads JSON the plain way, keeping every byte of every string and the order of every object.
indirect enum JSON {
    case object([(key: Text, value: JSON)])
    case array([JSON])
    case string(Text)

    struct Flaw: Error {
        let offset: Int
    }

    init(_ bytes: [UInt8]) throws(Flaw) {
        var reader = Reader(bytes: bytes)
        self = try reader.value()
        guard reader.offset == bytes.count else { throw reader.flaw }
    }

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == Text(key) }?.value
    }

    var members: [(key: Text, value: JSON)] {
        if case .object(let members) = self { members } else { [] }
    }

    var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var text: Text? {
        if case .string(let text) = self { text } else { nil }
    }

    private struct Reader {
        let bytes: [UInt8]
        var offset = 0

        var flaw: Flaw { Flaw(offset: offset) }

        mutating func value() throws(Flaw) -> JSON {
            switch try peek() {
            case UInt8(ascii: "{"):
                var members: [(Text, JSON)] = []
                try list(until: UInt8(ascii: "}")) { reader throws(Flaw) in
                    let key = try reader.string()
                    try reader.expect(UInt8(ascii: ":"))
                    members.append((key, try reader.value()))
                }
                return .object(members)
            case UInt8(ascii: "["):
                var elements: [JSON] = []
                try list(until: UInt8(ascii: "]")) { reader throws(Flaw) in elements.append(try reader.value()) }
                return .array(elements)
            default: return .string(try string())
            }
        }

        private func peek() throws(Flaw) -> UInt8 {
            guard offset < bytes.count else { throw flaw }
            return bytes[offset]
        }

        private mutating func expect(_ byte: UInt8) throws(Flaw) {
            guard try peek() == byte else { throw flaw }
            offset += 1
        }

        private mutating func list(
            until end: UInt8, _ body: (inout Reader) throws(Flaw) -> Void
        ) throws(Flaw) {
            offset += 1
            if try peek() == end { return offset += 1 }
            while true {
                try body(&self)
                if try peek() == end { return offset += 1 }
                try expect(UInt8(ascii: ","))
            }
        }

        private mutating func string() throws(Flaw) -> Text {
            try expect(UInt8(ascii: "\""))
            var text: [UInt8] = []
            while true {
                let byte = try peek()
                offset += 1
                switch byte {
                case UInt8(ascii: "\""): return Text(bytes: text)
                case UInt8(ascii: "\\"): text += try escaped()
                case ..<0x20: throw flaw
                default: text.append(byte)
                }
            }
        }

        private mutating func escaped() throws(Flaw) -> [UInt8] {
            let byte = try peek()
            offset += 1
            switch byte {
            case UInt8(ascii: "b"): return [8]
            case UInt8(ascii: "t"): return [9]
            case UInt8(ascii: "n"): return [10]
            case UInt8(ascii: "f"): return [12]
            case UInt8(ascii: "r"): return [13]
            case UInt8(ascii: "u"):
                guard offset + 4 <= bytes.count,
                    let code = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16),
                    let scalar = Unicode.Scalar(code)
                else { throw flaw }
                offset += 4
                return Array(String(Character(scalar)).utf8)
            default: return [byte]
            }
        }
    }
}
