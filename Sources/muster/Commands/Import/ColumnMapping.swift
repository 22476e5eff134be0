import LocalAPI

/// Which field each column of a file fills.
struct ColumnMapping {
    /// Names that inventories use for the fields that Muster itself reads, in lower case without spaces and marks.
    private static let wellKnown: [String: String] = [
        "barcode": "barcode", "category": "category", "name": "name", "room": "room", "quantity": "quantity",
        "qty": "quantity", "condition": "condition", "volumecubicfeet": "volumeCubicFeet",
        "cubicfeet": "volumeCubicFeet", "cuft": "volumeCubicFeet",
    ]

    private let columns: [String]
    private let fields: [String]
    /// The field whose value names an item.
    let keyField: String?
    private let keyIndex: Int?

    /// - Parameters:
    ///   - header: the names in the file's first row.
    ///   - renamed: fields for columns by the columns' names.
    ///   - key: a column's name.
    init(header: [String], renamed: [FieldFilter], key: String?) throws {
        // Swift's own == serves here: people type a column's name as they see it, however the file spells it.
        columns = header
        for rename in renamed where !header.contains(rename.field) {
            throw Self.missing(rename.field, header)
        }
        fields = header.map { column in
            renamed.last { $0.field == column }?.value ?? Self.wellKnown[Self.folded(column)] ?? column
        }
        for (index, field) in fields.enumerated() {
            guard !field.isEmpty else {
                throw APIError(.invalidValue, "Column \(index + 1) has no name: give it one in the file's first line.")
            }
            if let first = fields[..<index].firstIndex(of: field) {
                throw APIError(
                    .invalidValue,
                    "Columns \(first + 1) and \(index + 1) both fill the field \"\(field)\": rename one, for example "
                        + "with --field \"\(header[index])=OTHER\".")
            }
        }
        keyIndex = try key.map { key in
            guard let index = header.firstIndex(of: key) else { throw Self.missing(key, header) }
            return index
        }
        keyField = keyIndex.map { [fields] in fields[$0] }
    }

    /// The fields of a row; empty cells give none. Throws `BadRow`.
    func fields(of cells: [String]) throws(BadRow) -> [String: String] {
        guard cells.count == columns.count else {
            throw BadRow(reason: "it has \(counted(cells.count, "cell")), the first line has \(columns.count)")
        }
        if let keyIndex, cells[keyIndex].isEmpty {
            throw BadRow(reason: "the key column \"\(columns[keyIndex])\" is empty")
        }
        var result: [String: String] = [:]
        for (field, cell) in zip(fields, cells) where !cell.isEmpty { result[field] = cell }
        guard !result.isEmpty else { throw BadRow(reason: "every cell is empty") }
        return result
    }

    struct BadRow: Error, Equatable {
        var reason: String
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    private static func missing(_ column: String, _ header: [String]) -> APIError {
        APIError(
            .invalidValue,
            "The file has no column \"\(column)\": its columns are \(header.map { "\"\($0)\"" }.joined(separator: ", "))."
        )
    }
}
