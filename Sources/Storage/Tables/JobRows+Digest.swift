import CRDT
import GRDB

/// The last digest, with the fingerprint of the version vector that it belongs to and of what counts of it.
extension JobRows {
    func keptDigest(at vector: VersionVector, _ limits: UInt64) throws -> JobDigest? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT digest FROM job WHERE number = ? AND digestFingerprint = ?"),
            arguments: [number, (vector.fingerprint ^ limits).signed])
        return (row?["digest"] as String?).map { JobDigest(vector: vector, limits: limits, text: $0) }
    }

    /// Puts it in the place of the one before.
    func keep(_ digest: JobDigest) throws {
        let update = try db.cachedStatement(sql: "UPDATE job SET digestFingerprint = ?, digest = ? WHERE number = ?")
        try update.execute(arguments: [(digest.vector.fingerprint ^ digest.limits).signed, digest.text, number])
    }
}
