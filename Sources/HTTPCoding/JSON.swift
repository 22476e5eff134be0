import FoundationEssentials

/// One way to write JSON everywhere: sorted keys, so that equal values are equal bytes.
package enum JSON {
    /// UTF-8 without a line end after it, slashes as they are; `pretty` adds line ends and indentation.
    package static func encode(_ value: some Encodable, pretty: Bool = false) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return Array(try encoder.encode(value))
    }

    /// Reads one whole document; throws `DecodingError`, whose `summary` is for people.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: some Sequence<UInt8>
    ) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

extension DecodingError {
    /// What is wrong with a document, for people: where, and in what way.
    package var summary: String {
        func place(_ context: Context) -> String {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return path.isEmpty ? "the document" : "\"\(path.joined(separator: "."))\""
        }
        return switch self {
        case .keyNotFound(let key, let context): "\"\(key.stringValue)\" is missing in \(place(context))"
        case .valueNotFound(_, let context): "\(place(context)) is null"
        case .typeMismatch(let type, let context): "\(place(context)) is not of type \(type)"
        case .dataCorrupted(let context): "\(place(context)) is malformed (\(context.debugDescription))"
        @unknown default: "it is malformed"
        }
    }
}
