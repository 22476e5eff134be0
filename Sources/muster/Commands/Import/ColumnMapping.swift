import CRDT
import Inventory
import LocalAPI

/// What somebody has said of a file's columns.
struct ColumnOptions {
    /// Fields for columns by the columns' names.
    var renamed: [FieldFilter] = []
    /// The name of the column that names an item.
    var key: String?
    /// Takes names that are nearly those of well-known fields, and a first line that names none.
    var isForced = false

    // Swift's own == serves here: people type a column's name as they see it, however the file spells it.

    /// A heading's text: one that goes on in another line is typed in one.
    static func name(of cell: String) -> String {
        cell.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Whether a heading is meant by somebody, or names a well-known field.
    func knows(_ cell: String) -> Bool {
        let column = Self.name(of: cell)
        return key == column || renamed.contains { $0.field == column } || WellKnownField.meant(by: column) != nil
    }

    fileprivate func field(of column: String) -> String {
        renamed.last { $0.field == column }?.value ?? WellKnownField.meant(by: column) ?? column
    }
}

/// Which field each column of a file fills.
struct ColumnMapping {
    private let columns: [String]
    private let fields: [String]
    /// The field whose value names an item.
    let keyField: String?
    private let keyIndex: Int?

    /// - Parameter cells: those of the file's first row.
    init(header cells: [String], _ options: ColumnOptions) throws {
        let header = cells.map(ColumnOptions.name)
        columns = header
        fields = header.map(options.field)
        for name in options.renamed.map(\.field) + [options.key].compactMap(\.self) where !header.contains(name) {
            throw Self.missing(name, header)
        }
        keyIndex = options.key.flatMap(header.firstIndex)
        keyField = keyIndex.map { [fields] in fields[$0] }
        for (index, field) in fields.enumerated() {
            try Self.check(field, of: header[index], at: index)
            if let first = fields[..<index].firstIndex(of: field) {
                // --field means both of one name.
                let how =
                    header[first] == header[index]
                    ? "in the file's first line" : "with --field \"\(header[index])=OTHER\""
                throw APIError(
                    .invalidValue,
                    "Columns \(first + 1) and \(index + 1) both fill the field \"\(field)\": rename one, for example \(how)."
                )
            }
            if !options.isForced, let nearest = WellKnownField.slip(field) {
                throw APIError(
                    .doubtfulValue,
                    "The column \"\(header[index])\" fills '\(field)', which is no well-known field; did you mean "
                        + "'\(nearest)'? Say --field \"\(header[index])=\(nearest)\", or --force if it is meant.")
            }
        }
        // A first line that is no heading makes fields of one item's values, and one item is lost.
        guard options.isForced || header.contains(where: options.knows) else { throw Self.unknown(header) }
    }

    /// Once here, since the daemon would refuse each row for it.
    private static func check(_ field: String, of column: String, at index: Int) throws {
        guard !field.isEmpty else {
            throw APIError(.invalidValue, "Column \(index + 1) has no name: give it one in the file's first line.")
        }
        guard FieldText.name(field) == nil else { return }
        throw APIError(
            .invalidValue,
            "Column \(index + 1), \"\(Text.fitted(column, to: 24))\", is no name of a field: use \(FieldText.nameRule) in the "
                + "file's first line.")
    }

    /// The fields of a row; empty cells give none. Throws `BadRow`.
    func fields(of cells: [String]) throws(BadRow) -> [String: String] {
        guard cells.count == columns.count else {
            throw BadRow(
                reason:
                    "it has \(counted(cells.count, "cell")), the first line has \(columns.count): put quotes around a cell with the separator in it"
            )
        }
        if let keyIndex {
            guard !cells[keyIndex].isEmpty else {
                throw BadRow(reason: "the key column \"\(columns[keyIndex])\" is empty")
            }
            guard !isReference(cells[keyIndex], in: fields[keyIndex]) else {
                throw BadRow(
                    reason:
                        "the column \"\(columns[keyIndex])\" has the item's id, which is no field of it: take another as the key, such as barcode"
                )
            }
        }
        var result: [String: String] = [:]
        for (field, cell) in zip(fields, cells) where !cell.isEmpty && !isReference(cell, in: field) {
            result[field] = cell
        }
        guard !result.isEmpty else { throw BadRow(reason: "every cell is empty") }
        return result
    }

    /// Whether it is what an export has beside an item's fields: the item's own id, or that of the one in whose place it stands.
    private func isReference(_ cell: String, in field: String) -> Bool {
        (field == "id" || field == WellKnownField.replaces.text) && cell.utf8.count == 36 && ItemID(cell) != nil
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
        let nearest = NearestName.of(column, among: header, slips: min(2, column.count / 3)).map {
            "; did you mean \"\($0)\"?"
        }
        let columns = header.map { "\"\($0)\"" }.joined(separator: ", ")
        return APIError(
            .invalidValue, "The file has no column \"\(column)\"\(nearest ?? ": its columns are \(columns).")")
    }
}
