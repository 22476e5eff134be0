package import CRDT
import Inventory

extension Store {
    /// What people call some items of a job, of a removed one too: see `FormerItemTable`.
    ///
    /// - Returns: without those of which that is not known.
    package func labels(of items: Set<ItemID>, in job: JobID) async throws -> [ItemID: String] {
        guard !items.isEmpty else { return [:] }
        return try await read(of: job) { rows in
            let names = FormerItemTable(db: rows.db)
            let former = try names.formerNumber(of: rows)
            var labels: [ItemID: String] = [:]
            for item in items {
                if let label = try rows.item(item)?.label {
                    labels[item] = label
                } else if let former {
                    // What has not been freed yet stands where it stood.
                    labels[item] =
                        try JobRows(former, in: rows.db).item(item)?.label ?? names.label(of: item, under: former)
                }
            }
            return labels
        }
    }
}
