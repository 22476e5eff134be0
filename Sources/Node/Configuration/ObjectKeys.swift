import FoundationEssentials

/// The keys of an object in JSON as they stand there: a decoder keeps one of two that are equal, and says nothing.
struct ObjectKeys {
    /// One that is there twice.
    private(set) var repeated: String?

    /// - Parameter bytes: an object that a decoder has read, in UTF-8.
    init(of bytes: [UInt8]) {
        var (known, depth, text) = (Set<String>(), 0, nil as Range<Int>?)
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let start = index
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    // What follows is meant as it stands, a quotation mark too.
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                text = start..<min(index + 1, bytes.count)
            case UInt8(ascii: ":"):
                // Two spellings of one key are one key.
                guard depth == 1, let text, let key = try? JSONDecoder().decode(String.self, from: Data(bytes[text]))
                else { break }
                if !known.insert(key).inserted { repeated = repeated ?? key }
            default: break
            }
            index += 1
        }
    }
}
