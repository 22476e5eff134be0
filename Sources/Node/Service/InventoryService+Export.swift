import CRDT
import Inventory
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
                let cursor = try store.exportCursor(of: job.id, as: CSVExport())
                return Chunks { try await cursor.next() }
            }
        }
    }
}
