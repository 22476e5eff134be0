import CRDT
import GRDB
import Inventory

/// The last report of each job, with the fingerprint of the version vector that it belongs to.
enum ReportTable {
    static func report(of job: Int64, at vector: VersionVector, in db: Database) throws -> JobReport? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT report FROM job WHERE number = ? AND reportFingerprint = ?"),
            arguments: [job, vector.fingerprint.signed])
        guard let text = row?["report"] as String? else { return nil }
        let parts = text.split(separator: " ")
        guard parts.count == 3, let thousandths = Int(parts[1]), let duplicates = Int(parts[2]) else { return nil }
        return JobReport(
            vector: vector, digest: String(parts[0]), cubicFeet: Thousandths(thousandths), duplicateBarcodes: duplicates
        )
    }

    /// Does nothing when the job has been removed meanwhile: it then has another number.
    static func keep(_ report: JobReport, of job: Int64, in db: Database) throws {
        let update = try db.cachedStatement(sql: "UPDATE job SET reportFingerprint = ?, report = ? WHERE number = ?")
        try update.execute(
            arguments: [
                report.vector.fingerprint.signed,
                "\(report.digest) \(report.cubicFeet.rawValue) \(report.duplicateBarcodes)", job,
            ])
    }
}
