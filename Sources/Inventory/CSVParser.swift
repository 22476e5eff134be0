/// Cuts comma-separated values (RFC 4180) into records, fed in pieces of any size; with tabs between the cells, too, which
/// spreadsheets write with the same quotes.
///
/// Takes LF and CR as well as CRLF, skips a byte order mark and empty lines, and keeps a quote inside an unquoted cell as it
/// is. A record that is wrong is handed out as such, with the line on which it begins; the next begins on the next line.
/// It looks at bytes: to Swift a quote or a comma is one Character with the combining mark that follows it, and CR LF one too.
package struct CSVParser: Sendable {
    /// One row of the table.
    package struct Record: Equatable, Sendable {
        /// The line on which it begins, from 1.
        package var line: Int
        /// Its cells, or why it has none.
        package var content: Result<[String], Fault>

        /// Takes both as they are.
        package init(line: Int, content: Result<[String], Fault>) {
            self.line = line
            self.content = content
        }
    }

    /// What can be wrong with a record.
    package enum Fault: Error, Equatable, Sendable {
        case textAfterQuote
        case unclosedQuote
        case notUTF8
        case tooLong

        /// What is wrong, to follow "line 3: ".
        package var reason: String {
            switch self {
            case .textAfterQuote: "text follows a closing quote; double a quote that belongs to the text"
            case .unclosedQuote:
                "a quote is never closed, so that everything to the end of the file belongs to it: close it, or write two for one"
            case .tooLong: "it is longer than 1 MiB; perhaps a quote is never closed"
            case .notUTF8: "the text is not UTF-8; convert the file first, for example with iconv"
            }
        }
    }

    private enum State {
        case startOfCell
        case unquoted
        case quoted
        case afterQuote
        /// Skips the rest of a line that is wrong.
        case skipping
    }

    /// More than an item holds: what follows in a record is read over, so that no file fills the memory.
    private static let longestRecord = 1 << 20

    private let separator: UInt8
    private var state = State.startOfCell
    private var recordBytes = 0
    private var cell: [UInt8] = []
    private var cells: [String] = []
    private var fault: Fault?
    private var line = 1
    private var recordLine = 1
    /// The byte before was a return.
    private var isAfterReturn = false
    private var hasContent = false
    /// Of the byte order mark, how many bytes have been seen; nil when it is past.
    private var markBytes: Int? = 0

    /// At the beginning of a file.
    package init(separator: UInt8 = UInt8(ascii: ",")) {
        self.separator = separator
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The records that the piece completes.
    package mutating func feed(_ piece: some Sequence<UInt8>) -> [Record] {
        var records: [Record] = []
        for byte in piece {
            if let seen = markBytes {
                if byte == Self.mark[seen] {
                    markBytes = seen == 2 ? nil : seen + 1
                    continue
                }
                markBytes = nil
                for early in Self.mark.prefix(seen) { consume(early, into: &records) }
            }
            consume(byte, into: &records)
        }
        return records
    }

    /// The last record, when the file does not end with a newline.
    package mutating func finish() -> [Record] {
        var records: [Record] = []
        for early in Self.mark.prefix(markBytes ?? 0) { consume(early, into: &records) }
        markBytes = nil
        if state == .quoted { fault = .unclosedQuote }
        endRecord(into: &records)
        return records
    }

    private mutating func consume(_ byte: UInt8, into records: inout [Record]) {
        let isSecondOfPair = isAfterReturn && byte == UInt8(ascii: "\n")
        isAfterReturn = byte == UInt8(ascii: "\r")
        let endsLine = byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") && !isSecondOfPair
        if endsLine { line += 1 }
        // The return before it has ended the record.
        if isSecondOfPair, state != .quoted { return }
        recordBytes += 1
        if recordBytes > Self.longestRecord, fault == nil {
            fault = .tooLong
            cells.removeAll()
            cell.removeAll()
        }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")):
            state = .afterQuote
        case (.quoted, _):
            keep(byte)
        case (_, UInt8(ascii: "\n")), (_, UInt8(ascii: "\r")):
            endRecord(into: &records)
        case (.skipping, _):
            break
        case (_, separator):
            hasContent = true
            endCell()
            state = .startOfCell
        case (.startOfCell, UInt8(ascii: "\"")):
            hasContent = true
            state = .quoted
        case (.afterQuote, UInt8(ascii: "\"")):
            keep(byte)
            state = .quoted
        default:
            append(byte)
        }
    }

    private mutating func append(_ byte: UInt8) {
        hasContent = true
        switch state {
        case .startOfCell, .unquoted:
            keep(byte)
            state = .unquoted
        case .afterQuote:
            fault = .textAfterQuote
            state = .skipping
        case .quoted: keep(byte)
        case .skipping: break
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if fault != .tooLong { cell.append(byte) }
    }

    private mutating func endCell() {
        guard fault != .tooLong else { return }
        if let text = String(validating: cell, as: UTF8.self) {
            cells.append(text)
        } else if fault == nil {
            fault = .notUTF8
        }
        cell.removeAll(keepingCapacity: true)
    }

    private mutating func endRecord(into records: inout [Record]) {
        if hasContent || !cell.isEmpty || fault != nil {
            endCell()
            records.append(Record(line: recordLine, content: fault.map { .failure($0) } ?? .success(cells)))
        }
        cells.removeAll(keepingCapacity: true)
        cell.removeAll(keepingCapacity: true)
        (fault, hasContent, state, recordLine, recordBytes) = (nil, false, .startOfCell, line, 0)
    }
}
