import CRDT
import Inventory
import Storage

/// A job's items as comma-separated values (RFC 4180): a row per item, a column per field that occurs; remarks in the last
/// column, a line each.
///
/// The columns are known only when all items have been read once, so it reads them twice, from one state of the store.
actor CSVTable {
    private let cursor: ItemCursor
    private var columns: [FieldName]?

    init(of cursor: ItemCursor) {
        self.cursor = cursor
    }

    /// The next rows; nil after the last.
    func next() async throws -> [UInt8]? {
        guard let columns else {
            let columns = try await occurringFields()
            self.columns = columns
            return CSVRow(["id"] + columns.map(\.text) + ["notes"]).bytes
        }
        guard let batch = try await cursor.next() else { return nil }
        var bytes: [UInt8] = []
        for item in batch where item.state.removed == nil {
            let notes = item.state.notes.map(\.text).joined(separator: "\n")
            let cells = [item.id.description] + columns.map { item.state.value(of: $0) ?? "" } + [notes]
            bytes += CSVRow(cells).bytes
        }
        return bytes
    }

    private func occurringFields() async throws -> [FieldName] {
        var names: Set<FieldName> = []
        while let batch = try await cursor.next() {
            for item in batch where item.state.removed == nil {
                names.formUnion(item.state.fields.filter { $0.register.winner != nil }.map(\.name))
            }
        }
        await cursor.rewind()
        return names.sorted()
    }
}

/// One record of RFC 4180, with its line end.
///
/// Made of bytes: a quote that a combining mark follows is one Character with it, and would not be doubled.
struct CSVRow {
    let bytes: [UInt8]

    init(_ cells: [String]) {
        var bytes: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.append(cell, to: &bytes)
        }
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        self.bytes = bytes
    }

    private static func append(_ cell: String, to bytes: inout [UInt8]) {
        guard cell.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else {
            bytes += cell.utf8
            return
        }
        let quote = UInt8(ascii: "\"")
        bytes.append(quote)
        for byte in cell.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }
}
