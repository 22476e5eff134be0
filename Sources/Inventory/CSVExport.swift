package import CRDT

/// A job's items as comma-separated values (RFC 4180): a row per item, a column per field that occurs, in the order of their
/// names; remarks in the last column, a line each.
///
/// The columns are known only when all items have been seen once. Made of bytes: a quote that a combining mark follows is one
/// Character with it, and would not be doubled.
package struct CSVExport: ItemExport {
    package static let needsSurvey = true

    private var columns: [FieldName] = []
    /// Of the item before: mostly the next one has the same.
    private var lastNames: [FieldName] = []

    package init() {}

    package func jobIsRemoved() {}

    package mutating func survey(_ item: PackedItem) {
        guard !item.fields.lazy.map(\.name).elementsEqual(lastNames) else { return }
        lastNames = item.fields.map(\.name)
        let missing = Set(lastNames).subtracting(columns)
        if !missing.isEmpty { columns = (columns + missing).sorted() }
    }

    package func begin(into bytes: inout [UInt8]) {
        bytes.append(utf8: "id,")
        for column in columns {
            bytes.append(csv: column.text.utf8)
            bytes.append(UInt8(ascii: ","))
        }
        bytes.append(utf8: "notes\r\n")
    }

    package mutating func add(_ item: PackedItem, id: ItemID, into bytes: inout [UInt8]) {
        guard !item.isRemoved else { return }
        bytes.append(id)
        bytes.append(UInt8(ascii: ","))
        // Both ascend by name, and an item has no field that is no column.
        var fields = item.fields[...]
        for column in columns {
            if let field = fields.first, field.name == column {
                bytes.append(csv: item.bytes(field.value))
                fields.removeFirst()
            }
            bytes.append(UInt8(ascii: ","))
        }
        let notes = item.notes.map { item.bytes($0.text) }
        bytes.append(csv: Array(notes.joined(separator: [UInt8(ascii: "\n")])))
        bytes.append(utf8: "\r\n")
    }

    package func end(into bytes: inout [UInt8]) {}
}

extension [UInt8] {
    /// A cell, in quotes where it needs them.
    mutating func append(csv cell: some Collection<UInt8>) {
        let quote = UInt8(ascii: "\"")
        let isPlain = cell.allSatisfy {
            $0 != quote && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
        }
        guard !isPlain else { return append(contentsOf: cell) }
        append(quote)
        for byte in cell {
            if byte == quote { append(quote) }
            append(byte)
        }
        append(quote)
    }
}
