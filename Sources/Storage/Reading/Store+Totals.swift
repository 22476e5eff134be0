package import CRDT
import GRDB
import Inventory
import Synchronization

/// Counts and volume are kept up with each change, so that a job is shown in no time while it changes.
///
/// Two things are left to who asks: how many barcodes are shared after a large batch (`BarcodeTable`), and a volume beyond
/// what a column takes. What was added up is remembered until the job changes, and written down when it rests.
extension Store {
    /// What a job's items add up to.
    package func totals(of job: JobID) async throws -> JobTotals { try await numberedTotals(of: job).totals }

    /// Writes down what had to be added up.
    func keepTotals(of job: JobID) async throws {
        let (totals, vector, number) = try await numberedTotals(of: job)
        let isKept = try await read { db in try JobTable.keptTotals(of: number, in: db).totals != nil }
        guard !isKept else { return }
        try await write { db in
            guard try JournalTable.vector(of: number, in: db) == vector else { return }
            try JobTable.keep(totals, of: number, in: db)
        }
    }

    private func numberedTotals(
        of job: JobID
    ) async throws -> (totals: JobTotals, vector: VersionVector, number: Int64) {
        let (totals, vector, number, isAddedUp) = try await read { [self] db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let vector = try JournalTable.vector(of: number, in: db)
            let kept = try JobTable.keptTotals(of: number, in: db)
            if let totals = kept.totals { return (totals, vector, number, false) }
            if let known = addedUp.withLock({ $0[number] }), known.vector == vector {
                return (known.totals, vector, number, false)
            }
            let totals = JobTotals(
                cubicFeet: try kept.cubicFeet ?? Self.cubicFeet(of: number, in: db),
                duplicateBarcodes: try kept.duplicateBarcodes
                    ?? BarcodeTable(job: number, db: db).duplicates().count)
            return (totals, vector, number, true)
        }
        if isAddedUp {
            addedUp.withLock { addedUp in
                if addedUp.count >= Self.rememberedAtMost { addedUp = [:] }
                addedUp[number] = AddedUp(totals: totals, vector: vector)
            }
        }
        return (totals, vector, number)
    }

    private static func cubicFeet(of job: Int64, in db: Database) throws -> Thousandths {
        var sum = Thousandths.zero
        try ItemTable.forEachPacked(job: job, in: db) { _, blob in
            let item = try PackedItem(blob)
            if !item.isRemoved { sum += ItemVolume(field: item.value(of:)).cubicFeet }
            return true
        }
        return sum
    }

    /// Totals that nobody has written down.
    struct AddedUp {
        let totals: JobTotals
        let vector: VersionVector
    }
}
