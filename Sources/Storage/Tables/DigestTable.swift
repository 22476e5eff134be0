import CRDT
import GRDB

/// The last digest of each job, with the fingerprint of the version vector that it belongs to.
enum DigestTable {
    static func digest(of job: Int64, at vector: VersionVector, in db: Database) throws -> JobDigest? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT digest FROM job WHERE number = ? AND digestFingerprint = ?"),
            arguments: [job, vector.fingerprint.signed])
        return (row?["digest"] as String?).map { JobDigest(vector: vector, text: $0) }
    }

    /// Does nothing when the job has been removed meanwhile: it then has another number.
    static func keep(_ digest: JobDigest, of job: Int64, in db: Database) throws {
        let update = try db.cachedStatement(sql: "UPDATE job SET digestFingerprint = ?, digest = ? WHERE number = ?")
        try update.execute(arguments: [digest.vector.fingerprint.signed, digest.text, job])
    }
}
