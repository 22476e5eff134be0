import CRDT
import GRDB

/// The last digest, with the fingerprint of the version vector that it belongs to.
extension JobRows {
    func keptDigest(at vector: VersionVector) throws -> JobDigest? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT digest FROM job WHERE number = ? AND digestFingerprint = ?"),
            arguments: [number, vector.fingerprint.signed])
        return (row?["digest"] as String?).map { JobDigest(vector: vector, text: $0) }
    }

    /// Puts it in the place of the one before.
    func keep(_ digest: JobDigest) throws {
        let update = try db.cachedStatement(sql: "UPDATE job SET digestFingerprint = ?, digest = ? WHERE number = ?")
        try update.execute(arguments: [digest.vector.fingerprint.signed, digest.text, number])
    }
}
