package import CRDT
import Crypto
import GRDB
import Inventory
import Synchronization

/// The digest covers every item of a job, and is made when somebody needs it: a second and more for a million items.
extension Store {
    /// Kept until the job changes: on an idle job it costs one row.
    package func digest(of job: JobID) async throws -> JobDigest { try await numberedDigest(of: job).digest }

    /// What was made since the job changed; nil when nobody has needed it.
    package func knownDigest(of job: JobID) async throws -> JobDigest? {
        try await knownNumberedDigest(of: job)?.digest
    }

    /// Makes it and writes it down for the next start.
    func keepDigest(of job: JobID) async throws {
        let (digest, number) = try await numberedDigest(of: job)
        let isKept = try await read { db in try DigestTable.digest(of: number, at: digest.vector, in: db) != nil }
        if !isKept { try await write { db in try DigestTable.keep(digest, of: number, in: db) } }
    }

    private func knownNumberedDigest(of job: JobID) async throws -> (digest: JobDigest, number: Int64)? {
        try await read { [self] db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let vector = try JournalTable.vector(of: number, in: db)
            if let digest = digests.withLock({ $0[number] }), digest.vector == vector { return (digest, number) }
            return try DigestTable.digest(of: number, at: vector, in: db).map { ($0, number) }
        }
    }

    private func numberedDigest(of job: JobID) async throws -> (digest: JobDigest, number: Int64) {
        if let known = try await knownNumberedDigest(of: job) { return known }
        let (digest, number) = try await read { db in
            let number = try JobTable.existingNumber(of: job, in: db)
            let vector = try JournalTable.vector(of: number, in: db)
            var hash = SHA256()
            var export = CanonicalExport(job: job)
            if try RemovalTable.isRemoved(number, in: db) { export.jobIsRemoved() }
            var bytes: [UInt8] = []
            export.begin(into: &bytes)
            try ItemTable.forEachPacked(job: number, in: db) { id, blob in
                export.add(try PackedItem(blob), id: id, into: &bytes)
                if bytes.count >= ExportPiece.bytes {
                    bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
                    bytes.removeAll(keepingCapacity: true)
                }
                return true
            }
            export.end(into: &bytes)
            bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            return (JobDigest(vector: vector, text: hash.finalize().hexadecimalDigits), number)
        }
        // Who only reads waits for no flush of the disk: what is quiet is written down later (`keepDigest`).
        digests.withLock { digests in
            if digests.count >= Self.rememberedAtMost { digests = [:] }
            digests[number] = digest
        }
        return (digest, number)
    }

    /// Of each kind, of as many jobs.
    static let rememberedAtMost = 256
}
