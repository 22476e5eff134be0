/// The key–value strings of a DNS-SD service (RFC 6763 section 6): each a length byte and `key=value`.
struct TXTRecord: Sendable {
    private(set) var entries: [(key: String, value: String)]

    init(entries: [(key: String, value: String)]) {
        self.entries = entries
    }

    /// Reads what a stranger sent: a string that is cut off, has no key or is no UTF-8 is skipped, and of a key that
    /// comes twice the first counts (RFC 6763 section 6.4).
    init(bytes: [UInt8]) {
        entries = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            guard length <= rest.count else { return }
            let string = rest.prefix(Int(length))
            rest.removeFirst(Int(length))
            guard let equals = string.firstIndex(of: UInt8(ascii: "=")), equals > string.startIndex,
                let key = String(validating: string[..<equals], as: UTF8.self)?.lowercased(),
                let value = String(validating: string[(equals + 1)...], as: UTF8.self), self[key] == nil
            else { continue }
            entries.append((key, value))
        }
    }

    subscript(key: String) -> String? {
        entries.first { $0.key == key }?.value
    }

    /// One length byte and at most 255 bytes per entry; a longer entry is cut.
    var bytes: [UInt8] {
        entries.flatMap { entry in
            let string = Array("\(entry.key)=\(entry.value)".utf8.prefix(255))
            return [UInt8(string.count)] + string
        }
    }
}
