import CRDT
import LocalAPI
import Storage

/// The canonical export.
extension InventoryService {
    func export(job text: String, format: ExportFormat) async throws -> Chunks {
        try await answering {
            let job = try await resolve(job: text)
            switch format {
            case .json:
                let cursor = try store.exportCursor(of: job.id)
                return Chunks { try await cursor.next() }
            case .csv:
                let table = CSVTable(of: try store.itemCursor(of: job.id))
                return Chunks { try await table.next() }
            }
        }
    }
}
