package import CRDT
import Crypto
import Inventory
import Synchronization

/// The digest covers every item of a job, and is made when somebody needs it: a second and more for a million items.
extension Store {
    /// Kept until the job changes: on an idle job it costs one row.
    package func digest(of job: JobID) async throws -> JobDigest { try await numberedDigest(of: job).digest }

    /// What was made since the job changed; nil when nobody has needed it.
    package func knownDigest(of job: JobID) async throws -> JobDigest? {
        try await read(of: job) { [self] rows in
            let (vector, limits) = (try rows.vector(), try rows.limits().fingerprint)
            return try rows.keptDigest(at: vector, limits) ?? remembered(rows.number, at: vector, limits)
        }
    }

    /// - Returns: also the job's number, and whether the digest is written down already.
    func numberedDigest(of job: JobID) async throws -> (digest: JobDigest, number: Int64, isKept: Bool) {
        let found = try await read(of: job) { [self] rows -> (digest: JobDigest, number: Int64, isKept: Bool) in
            let (vector, limits) = (try rows.vector(), try rows.limits().fingerprint)
            if let kept = try rows.keptDigest(at: vector, limits) { return (kept, rows.number, true) }
            let digest =
                try remembered(rows.number, at: vector, limits) ?? Self.makeDigest(of: job, rows, at: vector, limits)
            return (digest, rows.number, false)
        }
        // Who only reads waits for no flush of the disk: what is quiet is written down later (`keep`).
        if !found.isKept {
            digests.withLock { digests in
                if digests.count >= Self.rememberedAtMost { digests = [:] }
                digests[found.number] = found.digest
            }
        }
        return found
    }

    private func remembered(_ job: Int64, at vector: VersionVector, _ limits: UInt64) -> JobDigest? {
        digests.withLock { $0[job] }.flatMap { $0.vector == vector && $0.limits == limits ? $0 : nil }
    }

    private static func makeDigest(
        of job: JobID, _ rows: JobRows, at vector: VersionVector, _ limits: UInt64
    ) throws -> JobDigest {
        var export = CanonicalExport(job: job)
        if try rows.isRemoved() { export.jobIsRemoved() }
        var hash = ExportHash(of: export)
        try rows.forEachPackedItem { id, blob in
            hash.add(try PackedItem(blob), id: id)
            return true
        }
        return JobDigest(vector: vector, limits: limits, text: hash.finish())
    }

    /// Of each kind, of as many jobs.
    static let rememberedAtMost = 256
}

/// SHA-256 of a canonical export that is never there as a whole.
struct ExportHash {
    private var export: CanonicalExport
    private var hash = SHA256()
    private var bytes: [UInt8] = []

    init(of export: CanonicalExport) {
        self.export = export
        self.export.begin(into: &bytes)
    }

    /// Ascending by id.
    mutating func add(_ item: PackedItem, id: ItemID) {
        export.add(item, id: id, into: &bytes)
        if bytes.count >= ExportPiece.bytes { flush() }
    }

    /// - Returns: 64 hexadecimal digits in lower case.
    mutating func finish() -> String {
        export.end(into: &bytes)
        flush()
        return hash.finalize().hexadecimalDigits
    }

    private mutating func flush() {
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        bytes.removeAll(keepingCapacity: true)
    }
}
