package import CRDT

/// The canonical export of a job: stores with equal version vectors write equal bytes (rule R3).
///
///     {"items":[{"fields":{NAME:VALUE…},"id":ID,"notes":[TEXT…]}…],"job":ID,"removed":[ID…]}
///
/// No white space; keys in ascending order of their UTF-8 bytes; items and ids ascending; strings escaped as RFC 8785
/// section 3.2.2.2 says, everything else as it is. Feed it items in ascending order and take the bytes as they come.
package struct CanonicalExport: Sendable {
    private let job: JobID
    private var removed: [ItemID] = []
    private var isFirst = true

    package init(job: JobID) {
        self.job = job
    }

    package func begin(into bytes: inout [UInt8]) {
        bytes.append(utf8: #"{"items":["#)
    }

    package mutating func add(_ state: ItemState, id: ItemID, into bytes: inout [UInt8]) {
        guard state.removed == nil else {
            removed.append(id)
            return
        }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(utf8: #"{"fields":{"#)
        var needsComma = false
        for field in state.fields {
            guard let winner = field.register.winner else { continue }
            if needsComma { bytes.append(UInt8(ascii: ",")) }
            needsComma = true
            bytes.append(jsonString: field.name.text)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(jsonString: winner.value)
        }
        bytes.append(utf8: #"},"id":""#)
        bytes.append(utf8: id.description)
        bytes.append(utf8: #"","notes":["#)
        needsComma = false
        for remark in state.remarks where remark.list == WellKnownField.notes {
            if needsComma { bytes.append(UInt8(ascii: ",")) }
            needsComma = true
            bytes.append(jsonString: remark.text)
        }
        bytes.append(utf8: "]}")
    }

    package func end(into bytes: inout [UInt8]) {
        bytes.append(utf8: #"],"job":"#)
        bytes.append(jsonString: job.text)
        bytes.append(utf8: #","removed":["#)
        for (index, id) in removed.enumerated() {
            bytes.append(utf8: index == 0 ? "\"" : ",\"")
            bytes.append(utf8: id.description)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(utf8: "]}")
    }
}

extension [UInt8] {
    mutating func append(utf8 text: String) {
        append(contentsOf: text.utf8)
    }

    /// A JSON string with its quotes.
    mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
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
        append(UInt8(ascii: "\""))
    }
}
