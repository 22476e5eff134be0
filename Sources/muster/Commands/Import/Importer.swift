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
        /// From the column `notes`: a remark, not a field (rule R1b).
        var remark: String?
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
            try checkKey(of: fields, line: record.line)
            let remark = fields.removeValue(forKey: WellKnownField.notes.text)
            guard !fields.isEmpty else { throw ColumnMapping.BadRow(reason: "it has nothing but a remark") }
            rows.append(Row(line: record.line, fields: fields, remark: remark))
            bytes += fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        } catch let fault as CSVParser.Fault {
            report.reject(record.line, fault.reason)
        } catch let bad as ColumnMapping.BadRow {
            report.reject(record.line, bad.reason)
        }
        if rows.count >= Self.rowsPerBatch || bytes >= Self.bytesPerBatch { try await send() }
    }

    /// Throws `BadRow` where another row above says something else of the same item; `--force` takes both, the last wins.
    private mutating func checkKey(of fields: [String: String], line: Int) throws {
        guard !table.isForced, let key = keyField.flatMap({ fields[$0] }) else { return }
        // Remarks only grow: each row may bring one more.
        let name = TextKey(FieldText.trimmed(key))
        let cells = fields.filter { $0.key != WellKnownField.notes.text }.hashValue
        guard let first = seen[name] else {
            seen[name] = (line, cells)
            return
        }
        guard first.cells != cells else { return }
        throw ColumnMapping.BadRow(
            reason:
                "line \(first.line) says something else of '\(key)': keep one of them, or add --force to take both, the last at last"
        )
    }

    private mutating func send() async throws {
        guard let first = rows.first else { return }
        unfinished = first.line
        let items = rows.map { row in
            BatchItem(id: (origin?.id(line: row.line)).map(\.description), fields: row.fields)
        }
        let batch = ItemBatch(key: keyField, items: items)
        let answer = try await client.addItems(batch, job: job, isForced: table.isForced)
        let results = answer.results
        report.amends = report.amends ?? answer.amends
        for (row, result) in zip(rows, results) {
            report.count(result, line: row.line)
            guard let remark = row.remark, let id = result.id, result.outcome != .removed else { continue }
            unfinished = row.line
            // Importing a file again must not repeat its remarks.
            let known = result.outcome == .added ? [] : try await client.item(id, job: job).notes
            if known.contains(where: { FieldText.isSame($0, remark) }) { continue }
            _ = try await client.addNote(NoteRequest(text: remark), item: id, job: job)
        }
        interruption.note(rows: report.taken)
        rows.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
