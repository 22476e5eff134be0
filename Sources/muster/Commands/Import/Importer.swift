import CRDT
import Inventory
import LocalAPI

/// Reads rows and sends them in batches.
struct Importer {
    private static let rowsPerBatch = 1000
    /// Of text; the JSON around it stays below the daemon's limit of a request.
    private static let bytesPerBatch = 1 << 20

    let client: LocalClient
    let job: String
    let key: String?
    let renamed: [FieldFilter]

    private var mapping: ColumnMapping?
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

    init(client: LocalClient, job: String, key: String?, renamed: [FieldFilter]) {
        self.client = client
        self.job = job
        self.key = key
        self.renamed = renamed
    }

    /// - Returns: what was done, and what ended it before the last row; what fails before anything is taken is thrown.
    mutating func run(_ input: InputFile) async throws -> (report: ImportReport, failure: APIError?) {
        do {
            try await take(input)
            return (report, nil)
        } catch let error as APIError {
            guard report.taken > 0 else { throw error }
            report.stopped = ImportReport.BadRow(line: unfinished, reason: error.message)
            return (report, error)
        }
    }

    private mutating func take(_ input: InputFile) async throws {
        let progress = ImportProgress(size: input.size)
        defer { progress.clear() }
        var parser = CSVParser()
        while let piece = try input.next() {
            for record in parser.feed(piece) { try await add(record) }
            progress.show(bytesRead: input.bytesRead, rows: report.rows)
        }
        for record in parser.finish() { try await add(record) }
        guard mapping != nil else {
            throw APIError(.invalidValue, "The file is empty: its first line must name the columns.")
        }
        try await send()
    }

    private mutating func add(_ record: CSVParser.Record) async throws {
        do {
            let cells = try record.content.get()
            guard let mapping else {
                mapping = try ColumnMapping(header: cells, renamed: renamed, key: key)
                return
            }
            var fields = try mapping.fields(of: cells)
            let remark = fields.removeValue(forKey: WellKnownField.notes.text)
            guard !fields.isEmpty else { throw ColumnMapping.BadRow(reason: "it has nothing but a remark") }
            rows.append(Row(line: record.line, fields: fields, remark: remark))
            bytes += fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        } catch let fault as CSVParser.Fault {
            guard mapping != nil else {
                throw APIError(.invalidValue, "The first line cannot be read: \(fault.reason).")
            }
            report.rejected.append(ImportReport.BadRow(line: record.line, reason: fault.reason))
        } catch let bad as ColumnMapping.BadRow {
            report.rejected.append(ImportReport.BadRow(line: record.line, reason: bad.reason))
        }
        if rows.count >= Self.rowsPerBatch || bytes >= Self.bytesPerBatch { try await send() }
    }

    private mutating func send() async throws {
        guard let first = rows.first else { return }
        unfinished = first.line
        let batch = ItemBatch(key: mapping?.keyField, items: rows.map { FieldsRequest(fields: $0.fields) })
        let results = try await client.addItems(batch, job: job).results
        for (row, result) in zip(rows, results) {
            report.count(result, line: row.line)
            guard let remark = row.remark, let id = result.id else { continue }
            unfinished = row.line
            // Importing a file again must not repeat its remarks.
            let known = result.outcome == .added ? [] : try await client.item(id, job: job).notes
            if known.contains(where: { FieldText.isSame($0, remark) }) { continue }
            _ = try await client.addNote(NoteRequest(text: remark), item: id, job: job)
        }
        rows.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
