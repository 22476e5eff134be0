package import CRDT
import Inventory
import Synchronization

/// Counts and volume are kept up with each change, so that a job is shown in no time while it changes.
///
/// Two things are left to who asks: how many barcodes are shared after a large batch (`BarcodeTable`), and a volume beyond
/// what a column takes. What was added up is remembered until the job changes, and written down when it rests.
extension Store {
    /// What a job's items add up to.
    package func totals(of job: JobID) async throws -> JobTotals { try await numberedTotals(of: job).totals }

    /// - Returns: of totals that are not kept also the job's number, and what they belong to.
    func numberedTotals(
        of job: JobID
    ) async throws -> (totals: JobTotals, standing: Standing?) {
        let (totals, standing) = try await read(of: job) {
            [self] rows -> (JobTotals, Standing?) in
            let kept = try rows.keptTotals()
            if let totals = kept.totals { return (totals, nil) }
            let standing = try Standing(of: rows)
            if let known = addedUp.withLock({ $0[rows.number] }), known.standing == standing {
                return (known.totals, standing)
            }
            let totals = JobTotals(
                cubicFeet: try kept.cubicFeet ?? Self.cubicFeet(of: rows),
                duplicateBarcodes: try kept.duplicateBarcodes ?? BarcodeTable(of: rows).duplicates().count)
            return (totals, standing)
        }
        if let standing {
            addedUp.withLock { addedUp in
                if addedUp.count >= Self.rememberedAtMost { addedUp = [:] }
                addedUp[standing.number] = AddedUp(totals: totals, standing: standing)
            }
        }
        return (totals, standing)
    }

    private static func cubicFeet(of job: JobRows) throws -> Thousandths {
        var sum = Thousandths.zero
        try job.forEachPackedItem { _, blob in
            let item = try PackedItem(blob)
            if !item.isRemoved { sum += ItemVolume(field: item.value(of:)).cubicFeet }
            return true
        }
        return sum
    }

    /// Totals that nobody has written down.
    struct AddedUp {
        let totals: JobTotals
        let standing: Standing
    }

    /// Of what totals are.
    struct Standing: Hashable {
        let number: Int64
        private let vector: VersionVector
        private let limits: JournalLimits

        init(of job: JobRows) throws {
            number = job.number
            vector = try job.vector()
            limits = try job.limits()
        }
    }
}
