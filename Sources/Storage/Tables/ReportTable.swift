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

    /// The items have changed without the vector. A mark that was never there before takes the report's place, so that
    /// whoever adds the former items up at this moment does not keep what comes of them.
    static func forget(_ job: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE job SET report = hex(randomblob(8)), reportFingerprint = NULL WHERE number = ?"
        ).execute(arguments: [job])
    }

    /// What stands in the report's place: to be read in the state of the store that is added up.
    static func mark(of job: Int64, in db: Database) throws -> String? {
        try String.fetchOne(
            db.cachedStatement(sql: "SELECT report FROM job WHERE number = ?"), arguments: [job])
    }

    /// - Parameter mark: what stood there when the items were read; when it is another one nothing is kept.
    static func keep(_ report: JobReport, of job: Int64, insteadOf mark: String?, in db: Database) throws {
        let update = try db.cachedStatement(
            sql: "UPDATE job SET reportFingerprint = ?, report = ? WHERE number = ? AND report IS ?")
        try update.execute(
            arguments: [
                report.vector.fingerprint.signed,
                "\(report.digest) \(report.cubicFeet.rawValue) \(report.duplicateBarcodes)", job, mark,
            ])
    }
}
