import Inventory
import LocalAPI

/// Which field each column of a file fills.
struct ColumnMapping {
    private let columns: [String]
    private let fields: [String]
    /// The field whose value names an item.
    let keyField: String?
    private let keyIndex: Int?

    /// - Parameters:
    ///   - header: the names in the file's first row.
    ///   - renamed: fields for columns by the columns' names.
    ///   - key: a column's name.
    ///   - isForced: takes names that are nearly those of well-known fields.
    init(header: [String], renamed: [FieldFilter], key: String?, isForced: Bool = false) throws {
        // Swift's own == serves here: people type a column's name as they see it, however the file spells it.
        columns = header
        for rename in renamed where !header.contains(rename.field) {
            throw Self.missing(rename.field, header)
        }
        fields = header.map { column in
            renamed.last { $0.field == column }?.value ?? WellKnownField.meant(by: column) ?? column
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
            if !isForced, let nearest = WellKnownField.slip(field) {
                throw APIError(
                    .doubtfulValue,
                    "The column \"\(header[index])\" fills '\(field)', which is no well-known field; did you mean "
                        + "'\(nearest)'? Say --field \"\(header[index])=\(nearest)\", or --force if it is meant.")
            }
        }
        keyIndex = try key.map { key in
            guard let index = header.firstIndex(of: key) else { throw Self.missing(key, header) }
            return index
        }
        // A first line that is no heading makes fields of one item's values, and one item is lost.
        guard isForced || fields.contains(where: WellKnownField.all.contains) else { throw Self.unknown(header) }
        keyField = keyIndex.map { [fields] in fields[$0] }
    }

    /// The fields of a row; empty cells give none. Throws `BadRow`.
    func fields(of cells: [String]) throws(BadRow) -> [String: String] {
        guard cells.count == columns.count else {
            throw BadRow(
                reason:
                    "it has \(counted(cells.count, "cell")), the first line has \(columns.count): put quotes around a cell with the separator in it"
            )
        }
        if let keyIndex, cells[keyIndex].isEmpty {
            throw BadRow(reason: "the key column \"\(columns[keyIndex])\" is empty")
        }
        var result: [String: String] = [:]
        for (field, cell) in zip(fields, cells) where !cell.isEmpty { result[field] = cell }
        guard !result.isEmpty else { throw BadRow(reason: "every cell is empty") }
        return result
    }

    /// The name of the column that fills a field, and its place.
    func column(filling field: String) -> (name: String, index: Int)? {
        fields.firstIndex(of: field).map { (columns[$0], $0) }
    }

    struct BadRow: Error, Equatable {
        var reason: String
    }

    private static func unknown(_ header: [String]) -> APIError {
        let shown = header.prefix(4).map { "\"\(Text.fitted($0, to: 24))\"" }.joined(separator: ", ")
        return APIError(
            .doubtfulValue,
            "The first line has to name the columns, and none of \(shown)\(header.count > 4 ? ", …" : "") is a field that "
                + "people know, such as name or barcode: say which is one with --field COLUMN=name, or --force if they are "
                + "fields of your own.")
    }

    private static func missing(_ column: String, _ header: [String]) -> APIError {
        APIError(
            .invalidValue,
            "The file has no column \"\(column)\": its columns are \(header.map { "\"\($0)\"" }.joined(separator: ", "))."
        )
    }
}
