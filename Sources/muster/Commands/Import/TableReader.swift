import Inventory
import LocalAPI

/// Reads the rows of a file under its first line.
struct TableReader {
    let renamed: [FieldFilter]
    let key: String?
    let isForced: Bool

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
        var parser: CSVParser?
        var beginning: [UInt8] = []
        func take(_ records: [CSVParser.Record]) async throws {
            for record in records {
                if let mapping { try await each(record, mapping) } else { mapping = try head(record) }
            }
        }
        while let piece = try input.next() {
            onText(piece)
            guard parser == nil else {
                try await take(parser?.feed(piece) ?? [])
                continue
            }
            beginning += piece
            guard beginning.count >= Self.longestHead || beginning.contains(where: Self.endsLine) else { continue }
            parser = CSVParser(separator: separator(of: beginning, input))
            try await take(parser?.feed(beginning) ?? [])
            beginning = []
        }
        var last = parser ?? CSVParser(separator: separator(of: beginning, input))
        try await take(last.feed(beginning) + last.finish())
        guard let mapping else {
            throw APIError(.invalidValue, "The file is empty: its first line must name the columns.")
        }
        return mapping
    }

    /// Within so many bytes a first line tells what stands between its cells.
    private static let longestHead = 64 << 10

    private static func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// A comma (RFC 4180), unless the first line has more semicolons, as where the comma is in numbers, or more tabs.
    private func separator(of beginning: [UInt8], _ input: InputFile) -> UInt8 {
        if input.isTabbed { return UInt8(ascii: "\t") }
        var (counts, isQuoted) = ([UInt8: Int](), false)
        for byte in beginning.prefix(while: { !Self.endsLine($0) }) {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() } else if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let comma = UInt8(ascii: ",")
        let others = [UInt8(ascii: ";"), UInt8(ascii: "\t")].filter {
            counts[$0, default: 0] > counts[comma, default: 0]
        }
        return others.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? comma
    }

    private func head(_ record: CSVParser.Record) throws -> ColumnMapping {
        switch record.content {
        case .success(let cells):
            return try ColumnMapping(header: cells, renamed: renamed, key: key, isForced: isForced)
        case .failure(let fault):
            throw APIError(.invalidValue, "The first line cannot be read: \(fault.reason).")
        }
    }
}
