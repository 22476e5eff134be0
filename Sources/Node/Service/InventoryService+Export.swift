import CRDT
import Inventory
import LocalAPI
import Storage
import Synchronization

/// The canonical export.
extension InventoryService {
    func export(job text: String, format: ExportFormat) async throws -> Chunks {
        try await answering {
            let job = try await resolve(job: text)
            switch format {
            case .json:
                let cursor = try store.exportCursor(of: job.id)
                return Chunks { try await cursor.next() }
            case .csv: return try await exportTable(of: job.id)
            }
        }
    }

    /// A row per item, a column per field that occurs; remarks in the last column, a line each (RFC 4180).
    private func exportTable(of job: JobID) async throws -> Chunks {
        var names: Set<FieldName> = []
        let first = try store.itemCursor(of: job)
        while let batch = try await first.next() {
            for item in batch where item.state.removed == nil { names.formUnion(item.state.fields.map(\.name)) }
        }
        let columns = names.sorted()
        let cursor = try store.itemCursor(of: job)
        let header = Mutex<[UInt8]?>(Array(CSVRow(["id"] + columns.map(\.text) + ["notes"]).text.utf8))
        return Chunks {
            if let bytes = header.withLock({ $0.take() }) { return bytes }
            guard let batch = try await cursor.next() else { return nil }
            var bytes: [UInt8] = []
            for item in batch where item.state.removed == nil {
                let notes = item.state.notes.map(\.text).joined(separator: "\n")
                let row = CSVRow([item.id.description] + columns.map { item.state.value(of: $0) ?? "" } + [notes])
                bytes.append(contentsOf: row.text.utf8)
            }
            return bytes
        }
    }
}

/// One record of RFC 4180, with its line end.
struct CSVRow {
    let text: String

    init(_ cells: [String]) {
        text = cells.map(Self.quoted).joined(separator: ",") + "\r\n"
    }

    private static func quoted(_ cell: String) -> String {
        guard cell.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return cell }
        return "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
