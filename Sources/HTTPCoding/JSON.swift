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

    /// Reads one whole document; throws `JSONFault` for one that is not of the type.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: some Sequence<UInt8>
    ) throws -> Value {
        let data = Data(bytes)
        guard !isTooDeep(data) else { throw JSONFault(.tooDeep, in: data) }
        do { return try JSONDecoder().decode(type, from: data) } catch let error as DecodingError {
            throw JSONFault(error, in: data)
        }
    }

    /// Whether more lists and objects are open somewhere than a decoder reads.
    ///
    /// Foundation's own (Swift 6.3) ends the process over a text that breaks off with the bracket that is one too many.
    private static func isTooDeep(_ data: Data) -> Bool {
        var (levels, isText, isEscaped) = (0, false, false)
        for byte in data {
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = byte == UInt8(ascii: "\\")
                isText = byte != UInt8(ascii: "\"")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
                levels += 1
                if levels > JSONScanner.mostLevels { return true }
            } else if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                levels -= 1
            }
        }
        return false
    }

    /// Looks for what a decoder does not: whether each key stands once in its object, and all of it in UTF-8 (RFC 8259 sections 4 and 8.1).
    package static func check(_ bytes: some Sequence<UInt8>) throws(JSONFault) {
        var scanner = JSONScanner(bytes)
        do { try scanner.check() } catch { throw JSONFault(error, in: bytes) }
    }

    /// A key that stands twice in the object that the whole text is: a decoder keeps one of the two, and says nothing.
    package static func repeatedKey(in bytes: some Sequence<UInt8>) -> String? {
        var scanner = JSONScanner(bytes)
        do { try scanner.check() } catch { if case .keyTwice(let key, at: []) = error { return key } }
        return nil
    }
}

/// What is wrong with a document, for people: where, in the terms of JSON, and in what way.
package struct JSONFault: Error, Hashable {
    /// Goes on after a colon, without a full stop: `'items[3].fields' must be an object, but is a list`.
    package let sentence: String

    /// Takes such a sentence.
    package init(_ sentence: String) { self.sentence = sentence }

    init(_ fault: JSONScanner.Fault, in bytes: some Sequence<UInt8>) {
        switch fault {
        case .syntax where bytes.allSatisfy({ [0x20, 0x0A, 0x0D, 0x09].contains($0) }): self.init("it is empty")
        case .syntax(let position):
            let before = bytes.prefix(position).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            self.init("it is no JSON in UTF-8 (line \(max(1, before.count)), column \((before.last?.count ?? 0) + 1))")
        case .tooDeep: self.init("it has more than \(JSONScanner.mostLevels) levels")
        case .keyTwice(let key, let place): self.init("'\(key)' stands twice in \(Self.named(place))")
        }
    }

    init(_ error: DecodingError, in bytes: some Sequence<UInt8>) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init("'\(key.stringValue)' is missing in \(Self.named(Self.place(context, in: bytes).place))")
        case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
            let (place, found) = Self.place(context, in: bytes)
            self.init("\(Self.named(place)) must be \(Self.name(of: type)), but is \(found?.kind.rawValue ?? "not")")
        case .dataCorrupted(let context):
            var scanner = JSONScanner(bytes)
            do { try scanner.check() } catch {
                self.init(error, in: bytes)
                return
            }
            let (place, found) = Self.place(context, in: bytes)
            guard !place.isEmpty else {
                // A decoder does not say of which.
                self.init("one of its numbers does not fit: it is too large, or has a fraction")
                return
            }
            let text = found.map { $0.text.count > 60 ? $0.text.prefix(60) + "…" : $0.text[...] } ?? "this"
            let expected = (context.underlyingError as? JSONExpectation).map { "must be \($0.what), but is" }
            self.init("\(Self.named(place)) \(expected ?? "cannot be") \(text)")
        @unknown default: self.init("it cannot be read")
        }
    }

    private static func named(_ place: [JSONStep]) -> String { place.isEmpty ? "it" : "'\(place.path)'" }

    /// A dictionary's coding keys have a number where their text is one: the text itself tells what they are.
    private static func place(
        _ context: DecodingError.Context, in bytes: some Sequence<UInt8>
    ) -> (place: [JSONStep], found: JSONScanner.Found?) {
        var place: [JSONStep] = []
        var found = find(place, in: bytes)
        for key in context.codingPath {
            let isIndex = found?.kind == .list
            place.append(isIndex ? key.intValue.map(JSONStep.index) ?? .key(key.stringValue) : .key(key.stringValue))
            found = find(place, in: bytes)
        }
        return (place, found)
    }

    private static func find(_ place: [JSONStep], in bytes: some Sequence<UInt8>) -> JSONScanner.Found? {
        var scanner = JSONScanner(bytes)
        return scanner.find(place)
    }

    /// What a type is in JSON.
    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any Listed.Type: "a list"
        default: "an object"
        }
    }
}

/// What a value has to be that is of the right kind and still cannot be read, as `underlyingError` of `DecodingError.dataCorrupted`.
package struct JSONExpectation: Error {
    /// As in "must be a time": `one of json, csv`.
    package let what: String

    /// Takes words for people.
    package init(_ what: String) { self.what = what }

    /// What a decoder throws for a value that is not this.
    package func fault(at decoder: any Decoder) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "must be \(what)", underlyingError: self))
    }
}

private protocol Listed {}
extension Array: Listed {}
extension Set: Listed {}
