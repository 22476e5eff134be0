/// Reads a JSON text (RFC 8259) for what `JSONDecoder` passes over in silence, or has no place for: a key that stands twice in one object,
/// where a text ends to be JSON, and what stands at a place.
struct JSONScanner {
    /// What a value is, as people read it.
    enum Kind: String {
        case object = "an object"
        case list = "a list"
        case string = "a string"
        case number = "a number"
        case boolean = "true or false"
        case null = "null"
    }

    enum Fault: Error {
        /// The byte at which it is none, from 0.
        case syntax(at: Int)
        case tooDeep
        /// In the object at the place.
        case keyTwice(String, at: [JSONStep])
    }

    /// A value that was looked for.
    struct Found {
        let kind: Kind
        /// As it stands in the text.
        let text: String
    }

    /// As deep as `JSONDecoder` reads.
    static let mostLevels = 512

    private let bytes: [UInt8]
    private var position = 0
    private var place: [JSONStep] = []
    private var wanted: [JSONStep]?
    private var found: (kind: Kind, range: Range<Int>)?

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Reads the whole text.
    mutating func check() throws(Fault) {
        skipSpace()
        try value()
        skipSpace()
        guard position == bytes.count else { throw .syntax(at: position) }
    }

    /// What stands at a place; nil where nothing does, or what stands before it is no JSON.
    mutating func find(_ place: [JSONStep]) -> Found? {
        wanted = place
        try? check()
        return found.map { Found(kind: $0.kind, text: String(decoding: bytes[$0.range], as: UTF8.self)) }
    }

    // MARK: Grammar

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Fault) {
        let start = position
        let kind = try unnamedValue()
        if wanted == place { found = (kind, start..<position) }
    }

    private mutating func unnamedValue() throws(Fault) -> Kind {
        switch next {
        case UInt8(ascii: "{"):
            try object()
            return .object
        case UInt8(ascii: "["):
            try list()
            return .list
        case UInt8(ascii: "\""):
            _ = try string()
            return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            try word(next == UInt8(ascii: "t") ? "true" : "false")
            return .boolean
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        default:
            try number()
            return .number
        }
    }

    private mutating func object() throws(Fault) {
        position += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        guard place.count < Self.mostLevels else { throw .tooDeep }
        // Two that only their spelling tells apart are one key to whoever reads them into a dictionary.
        var keys: Set<String> = []
        repeat {
            skipSpace()
            let key = try string()
            guard keys.insert(key).inserted else { throw .keyTwice(key, at: place) }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw .syntax(at: position) }
            skipSpace()
            place.append(.key(key))
            try value()
            place.removeLast()
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .syntax(at: position) }
    }

    private mutating func list() throws(Fault) {
        position += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return }
        guard place.count < Self.mostLevels else { throw .tooDeep }
        var index = 0
        repeat {
            skipSpace()
            place.append(.index(index))
            try value()
            place.removeLast()
            index += 1
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .syntax(at: position) }
    }

    private mutating func word(_ word: StaticString) throws(Fault) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[offset] else { throw .syntax(at: position) }
            position += 1
        }
    }

    private mutating func number() throws(Fault) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw .syntax(at: position) }
    }

    // MARK: Strings

    private mutating func string() throws(Fault) -> String {
        guard take(UInt8(ascii: "\"")) else { throw .syntax(at: position) }
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if next == UInt8(ascii: "\"") {
            defer { position += 1 }
            guard let text = String(validating: bytes[start..<position], as: UTF8.self) else {
                throw .syntax(at: start)
            }
            return text
        }
        return try escapedString(from: start)
    }

    /// Goes on where the first escape stands.
    private mutating func escapedString(from start: Int) throws(Fault) -> String {
        var text = Array(bytes[start..<position])
        while let byte = next, byte >= 0x20 {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else { throw .syntax(at: start) }
                return text
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: text.append(byte)
            }
        }
        throw .syntax(at: position)
    }

    private mutating func escape(into text: inout [UInt8]) throws(Fault) {
        guard let byte = next else { throw .syntax(at: position) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += Array(String(try scalar()).utf8)
        default: throw .syntax(at: position - 1)
        }
    }

    /// Behind `\u`: one scalar, of two halves where it has them; one half alone is none.
    private mutating func scalar() throws(Fault) -> Character {
        let start = position
        var value = try unit()
        if value & 0xFC00 == 0xD800, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
            let low = try unit()
            guard low & 0xFC00 == 0xDC00 else { throw .syntax(at: start) }
            value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(value) else { throw .syntax(at: start) }
        return Character(scalar)
    }

    private mutating func unit() throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw .syntax(at: position)
            }
            position += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

/// One step from a value of a JSON text to one within it.
enum JSONStep: Hashable {
    case key(String)
    case index(Int)
}

extension [JSONStep] {
    /// As people write a place: `items[3].fields.room`; nothing for the whole text.
    var path: String {
        reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }
}
