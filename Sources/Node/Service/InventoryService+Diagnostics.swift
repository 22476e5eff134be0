import HTTPCoding
import LocalAPI
import Storage
import Systemd

/// What the daemon knows of itself.
extension InventoryService {
    func diagnostics() async throws -> Diagnostics {
        let file = StateDirectory.storePath(in: facts.configuration.stateDirectory)
        return Diagnostics(
            settings: facts.configuration.settings.map { Diagnostics.Setting(name: $0.name, value: $0.value) },
            store: Diagnostics.StoreSize(
                bytes: Int(clamping: Surroundings.fileBytes(at: file)),
                logBytes: Int(clamping: Surroundings.fileBytes(at: file + "-wal")),
                // Of a damaged store that is what it is reported for.
                rows: (try? await store.rowCounts()) ?? [:]),
            events: (facts.recentLog?.lines ?? []).map {
                Diagnostics.LoggedEvent(
                    at: Timestamp(milliseconds: $0.at), level: $0.level, event: $0.event,
                    // By its word somebody is let in.
                    details: $0.details.filter { $0.key != "invitation" })
            })
    }
}
