import Audit
import CRDT
import HTTPCoding
import Identity
import Inventory
import LocalAPI
import LocalAPIServer
import Storage

/// The canonical export, and the history behind it.
extension InventoryService {
    func export(job text: String, format: ExportFormat) async throws -> Chunks {
        try await answering {
            let job = try await living(text)
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

    func history(job text: String) async throws -> Chunks {
        try await answering {
            let job = try await resolve(job: text).id
            let file = HistoryFile(
                HistoryWriter(
                    job: job, fleet: fleet.membership?.trust.root.bytes,
                    time: Timestamp(milliseconds: Int64(nowMilliseconds))),
                try await store.historyCursor(of: job))
            return Chunks { try await file.next() }
        }
    }
}

/// A job's history, piece by piece.
private actor HistoryFile {
    private enum Place { case beginning, middle, end }

    private var writer: HistoryWriter
    private let cursor: HistoryCursor
    private var place = Place.beginning

    init(_ writer: HistoryWriter, _ cursor: HistoryCursor) {
        self.writer = writer
        self.cursor = cursor
    }

    /// Nil after the last one.
    func next() async throws -> [UInt8]? {
        switch place {
        case .beginning:
            place = .middle
            return try writer.beginning()
        case .middle:
            if let run = try await cursor.run() { return try writer.add(run) }
            place = .end
            return try writer.ending()
        case .end: return nil
        }
    }
}
