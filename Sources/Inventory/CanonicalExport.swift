package import CRDT

/// The canonical export of a job: stores with equal version vectors write equal bytes (rule R3).
///
///     {"items":[{"fields":{NAME:VALUE…},"id":ID,"notes":[TEXT…]}…],"job":ID,"removed":[ID…]}
///
/// A job that was removed as a whole has no items and its own reserved id, zero, under `removed`.
///
/// No white space; keys in ascending order of their UTF-8 bytes; items and ids ascending; strings escaped as RFC 8785
/// section 3.2.2.2 says, everything else as it is. Feed it items in ascending order and take the bytes as they come.
package struct CanonicalExport: ItemExport {
    package static let needsSurvey = false

    private let job: JobID
    private var removed: [ItemID] = []
    private var isFirst = true

    package init(job: JobID) {
        self.job = job
    }

    package mutating func jobIsRemoved() { removed = [.job] }

    package func survey(_ item: PackedItem) {}

    package func begin(into bytes: inout [UInt8]) {
        bytes.append(utf8: #"{"items":["#)
    }

    /// Of a removed item the id is kept for the end.
    package mutating func add(_ item: PackedItem, id: ItemID, into bytes: inout [UInt8]) {
        guard !item.isRemoved else {
            removed.append(id)
            return
        }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(utf8: #"{"fields":"#)
        bytes.append(jsonFieldsOf: item)
        bytes.append(utf8: #","id":"#)
        bytes.append(jsonString: id)
        bytes.append(utf8: #","notes":"#)
        bytes.append(jsonNotesOf: item)
        bytes.append(utf8: "}")
    }

    package func end(into bytes: inout [UInt8]) {
        bytes.append(utf8: #"],"job":"#)
        bytes.append(jsonString: job.text)
        bytes.append(utf8: #","removed":["#)
        bytes.append(jsonElements: removed) { $0.append(jsonString: $1) }
        bytes.append(utf8: "]}")
    }
}

extension [UInt8] {
    /// The UTF-8 of a text, as it is.
    package mutating func append(utf8 text: String) {
        append(contentsOf: text.utf8)
    }

    /// The fields that show as a JSON object, in ascending order of their names.
    package mutating func append(jsonFieldsOf item: PackedItem) {
        append(UInt8(ascii: "{"))
        append(jsonElements: item.fields) { bytes, field in
            bytes.append(jsonString: field.name.text)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(jsonBytes: item.bytes(field.value))
        }
        append(UInt8(ascii: "}"))
    }

    /// The notes as a JSON array, in timeline order.
    package mutating func append(jsonNotesOf item: PackedItem) {
        append(UInt8(ascii: "["))
        append(jsonElements: item.notes) { $0.append(jsonBytes: item.bytes($1.text)) }
        append(UInt8(ascii: "]"))
    }

    /// What stands between the brackets of an array or an object, with commas.
    package mutating func append<Elements: Sequence>(
        jsonElements elements: Elements, _ write: (inout [UInt8], Elements.Element) -> Void
    ) {
        var needsComma = false
        for element in elements {
            if needsComma { append(UInt8(ascii: ",")) }
            needsComma = true
            write(&self, element)
        }
    }

    /// A JSON string with its quotes.
    package mutating func append(jsonString text: String) {
        var text = text
        text.withUTF8 { append(jsonBytes: UnsafeRawBufferPointer($0)) }
    }

    /// An id as a JSON string.
    package mutating func append(jsonString id: ItemID) {
        append(UInt8(ascii: "\""))
        append(id)
        append(UInt8(ascii: "\""))
    }

    /// An id: 8-4-4-4-12 hexadecimal digits.
    mutating func append(_ id: ItemID) {
        for index in 0..<32 {
            if [8, 12, 16, 20].contains(index) { append(UInt8(ascii: "-")) }
            let digit = UInt8(truncatingIfNeeded: id.value >> UInt128(124 - 4 * index)) & 0xF
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// UTF-8 as a JSON string with its quotes. Nearly all text needs no escape and is copied whole.
    mutating func append(jsonBytes text: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        if text.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for byte in text { append(jsonEscaped: byte) }
        } else {
            append(contentsOf: text)
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(jsonEscaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(utf8: #"\""#)
        case UInt8(ascii: "\\"): append(utf8: #"\\"#)
        case 0x08: append(utf8: #"\b"#)
        case 0x09: append(utf8: #"\t"#)
        case 0x0A: append(utf8: #"\n"#)
        case 0x0C: append(utf8: #"\f"#)
        case 0x0D: append(utf8: #"\r"#)
        case ..<0x20: append(utf8: (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16))
        default: append(byte)
        }
    }
}
