import CRDT
import Inventory
import LocalAPI

/// Sends rows in batches.
struct Importer {
    private static let rowsPerBatch = 1000
    /// Of text; the JSON around it stays below the daemon's limit of a request.
    private static let bytesPerBatch = 1 << 20

    let client: LocalClient
    let job: String
    let table: TableReader
    /// Of the rows' ids; nil where a key tells them apart.
    let origin: FileOrigin?
    let interruption: ImportInterruption

    private var keyField: String?
    /// Where each key stood first, and in what row: a second row of one key would undo the first in silence.
    private var seen: [TextKey: (line: Int, cells: Int)] = [:]
    private var report = ImportReport()
    private var rows: [Row] = []
    private var bytes = 0
    /// The first line of which it is not known that it is in the job.
    private var unfinished = 1

    private struct Row {
        var line: Int
        var fields: [String: String]
        /// From the column `notes`: remarks, a line each as in an export, and no field (rule R1b).
        var remarks: [String]
    }

    init(
        client: LocalClient, job: String, table: TableReader, origin: FileOrigin?, interruption: ImportInterruption
    ) {
        self.client = client
        self.job = job
        self.table = table
        self.origin = origin
        self.interruption = interruption
    }

    /// - Returns: what was done, and what ended it before the last row; what fails before anything is taken is thrown.
    mutating func run(_ input: InputFile) async throws -> (report: ImportReport, failure: APIError?) {
        do {
            try await take(input)
            report.rejected.sort { $0.line < $1.line }
            return (report, nil)
        } catch let error as APIError {
            guard report.taken > 0 else { throw error }
            report.stopped = ImportReport.BadRow(line: unfinished, reason: error.message)
            return (report, error)
        }
    }

    private mutating func take(_ input: InputFile) async throws {
        let progress = ProgressBar()
        defer { progress.clear() }
        var importer = self
        defer { self = importer }
        try await table.read(input) { record, mapping in
            try await importer.add(record, mapping)
            progress.show(input.bytesRead, of: input.size, "\(Formats.count(importer.report.rows)) rows")
        }
        try await importer.send()
    }

    private mutating func add(_ record: CSVParser.Record, _ mapping: ColumnMapping) async throws {
        keyField = mapping.keyField
        do {
            var fields = try mapping.fields(of: try record.content.get())
            let remarks = try Self.remarks(in: fields.removeValue(forKey: WellKnownField.notes.text) ?? "")
            guard !fields.isEmpty else { throw ColumnMapping.BadRow(reason: "it has nothing but a remark") }
            try await checkKey(of: fields, line: record.line)
            rows.append(Row(line: record.line, fields: fields, remarks: remarks))
            bytes += fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        } catch let fault as CSVParser.Fault {
            report.reject(record.line, fault.reason)
        } catch let bad as ColumnMapping.BadRow {
            report.reject(record.line, bad.reason)
        } catch let refusal as FieldTextRefusal {
            report.reject(record.line, refusal.sentence)
        }
        if rows.count >= Self.rowsPerBatch || bytes >= Self.bytesPerBatch { try await send() }
    }

    /// Throws `BadRow` where a row above that was taken says something else of the same item, remarks apart, which only grow; `--force`
    /// takes both, the last wins.
    private mutating func checkKey(of fields: [String: String], line: Int) async throws {
        guard !table.options.isForced, let key = key(of: fields) else { return }
        let cells = fields.mapValues(FieldText.trimmed).filter { !$0.value.isEmpty }.hashValue
        if let first = seen[key], first.cells != cells, first.line >= rows.first?.line ?? .max {
            // Whether that one is taken is not known yet.
            try await send()
        }
        guard let first = seen[key] else {
            seen[key] = (line, cells)
            return
        }
        guard first.cells != cells else { return }
        throw ColumnMapping.BadRow(
            reason:
                "line \(first.line) says something else of '\(keyField.flatMap { fields[$0] } ?? "")': keep one of them, or add --force to take both, the last at last"
        )
    }

    /// What was refused says nothing of its item.
    private mutating func forget(_ row: Row) {
        guard let key = key(of: row.fields), seen[key]?.line == row.line else { return }
        seen[key] = nil
    }

    private func key(of fields: [String: String]) -> TextKey? {
        keyField.flatMap { fields[$0] }.map { TextKey(FieldText.trimmed($0)) }
    }

    /// Checked before their row is sent: the daemon would refuse them when it has taken the row.
    private static func remarks(in cell: String) throws -> [String] {
        try lines(of: cell).map { line in
            let bytes = line.utf8.count
            guard bytes <= ChangeLimits.valueBytes else {
                throw ColumnMapping.BadRow(
                    reason: "its remark has \(bytes) bytes: shorten it to \(ChangeLimits.valueBytes)")
            }
            return try FieldText.entered(line, as: .text, called: "The remark")
        }
    }

    private static func lines(of text: String) -> [String] {
        text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }

    private mutating func send() async throws {
        guard let first = rows.first else { return }
        unfinished = first.line
        let items = rows.map { row in
            BatchItem(id: (origin?.id(line: row.line)).map(\.description), fields: row.fields)
        }
        let batch = ItemBatch(key: keyField, items: items)
        let answer = try await client.addItems(batch, job: job, isForced: table.options.isForced)
        let results = answer.results
        report.amends = report.amends ?? answer.amends
        for (row, result) in zip(rows, results) {
            report.count(result, line: row.line)
            if result.outcome == .rejected { forget(row) }
            guard !row.remarks.isEmpty, let id = result.id, result.outcome != .removed else { continue }
            unfinished = row.line
            // Importing a file again must not repeat its remarks.
            let known = result.outcome == .added ? [] : try await client.item(id, job: job).notes.flatMap(Self.lines)
            for remark in row.remarks where !known.contains(where: { FieldText.isSame($0, remark) }) {
                _ = try await client.addNote(NoteRequest(text: remark), item: id, job: job)
            }
        }
        interruption.note(rows: report.taken)
        rows.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
