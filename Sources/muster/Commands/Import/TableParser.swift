import Inventory

/// Cuts a table into records before it is known what stands between its cells: by each separator that may, until one has cut the
/// first line into the most columns that somebody knows.
struct TableParser {
    private struct Reading {
        let separator: UInt8
        var parser: CSVParser
        var records: [CSVParser.Record] = []

        /// Excel's own first line, `sep=;`, which is no heading.
        var saysItself: Bool {
            guard let cells = try? records.first?.content.get() else { return false }
            let mark = String(decoding: [separator], as: UTF8.self)
            return cells.joined(separator: mark).lowercased() == "sep=\(mark)"
        }
    }

    /// Within so many bytes a first line has ended; what is wrong for it may wait for the end of a quotation that is none.
    private static let longestHead = 64 << 10

    private var readings: [Reading]
    private let isKnown: (String) -> Bool
    private var isDecided = false
    private var bytes = 0

    /// - Parameters:
    ///   - separators: those that there may be; of two that fit equally well the first.
    ///   - isKnown: whether a cell of the first line names a column that somebody knows.
    init(separators: [UInt8], isKnown: @escaping (String) -> Bool) {
        readings = separators.map { Reading(separator: $0, parser: CSVParser(separator: $0)) }
        self.isKnown = isKnown
    }

    /// The records that the piece completes, the first line as the first of them; none as long as that may be cut otherwise.
    mutating func feed(_ piece: [UInt8]) -> [CSVParser.Record] {
        for index in readings.indices { readings[index].records += readings[index].parser.feed(piece) }
        bytes += piece.count
        let waiting = readings.count { $0.records.isEmpty }
        let isLong = bytes >= Self.longestHead && waiting < readings.count
        return waiting == 0 || isLong ? decided() : []
    }

    /// The last records.
    mutating func finish() -> [CSVParser.Record] {
        for index in readings.indices { readings[index].records += readings[index].parser.finish() }
        return decided()
    }

    private mutating func decided() -> [CSVParser.Record] {
        if !isDecided {
            let ranks = readings.map(rank)
            if let best = readings.indices.max(by: { ranks[$0] < ranks[$1] }) { readings = [readings[best]] }
            if readings[0].saysItself { readings[0].records.removeFirst() }
            isDecided = true
        }
        defer { readings[0].records.removeAll() }
        return readings[0].records
    }

    /// Columns that are known count first, and then all: a semicolon in a heading parts none that anybody knows.
    private func rank(_ reading: Reading) -> (Int, Int) {
        // What is wrong with it is told, rather than that nobody knows a line of one column.
        guard let cells = try? reading.records.first?.content.get() else { return (0, 2) }
        return (reading.saysItself ? .max : cells.count(where: isKnown), cells.count)
    }
}
