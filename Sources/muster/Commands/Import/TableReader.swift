import Inventory
import LocalAPI

/// Reads the rows of a file under its first line.
struct TableReader {
    let options: ColumnOptions

    /// - Parameters:
    ///   - onText: called with each piece of the file before its rows.
    ///   - each: called with each row below the first line, be it well formed or not.
    /// - Returns: what the first line says; throws where it says nothing, or what cannot be.
    @discardableResult
    func read(
        _ input: InputFile, onText: ([UInt8]) -> Void = { _ in },
        each: (CSVParser.Record, ColumnMapping) async throws -> Void
    ) async throws -> ColumnMapping {
        var mapping: ColumnMapping?
        let separators = input.isTabbed ? "\t" : ",;\t"
        var parser = TableParser(separators: Array(separators.utf8), isKnown: options.knows)
        func take(_ records: [CSVParser.Record]) async throws {
            for record in records {
                if let mapping { try await each(record, mapping) } else { mapping = try head(record) }
            }
        }
        while let piece = try input.next() {
            guard mapping != nil || !piece.starts(with: Self.archive) else {
                throw APIError(
                    .invalidValue, "The file is a workbook or an archive, not text: save the sheet as CSV first.")
            }
            onText(piece)
            try await take(parser.feed(piece))
        }
        try await take(parser.finish())
        guard let mapping else {
            throw APIError(.invalidValue, "The file is empty: its first line must name the columns.")
        }
        return mapping
    }

    /// How a ZIP archive begins, and so a workbook of Excel or LibreOffice.
    private static let archive = Array("PK\u{3}\u{4}".utf8)

    private func head(_ record: CSVParser.Record) throws -> ColumnMapping {
        switch record.content {
        case .success(let cells): return try ColumnMapping(header: cells, options)
        case .failure(let fault):
            throw APIError(.invalidValue, "The first line cannot be read: \(fault.reason).")
        }
    }
}
