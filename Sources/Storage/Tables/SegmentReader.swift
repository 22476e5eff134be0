import CRDT
import Foundation
import GRDB

/// All records of a job's journals, one segment in memory at a time.
enum SegmentReader {
    /// - Parameters:
    ///   - replica: of one journal; nil for all of them.
    ///   - sequences: only stored rows that hold some of these.
    ///   - body: gets each record with the dot of its first transform.
    static func forEach(
        job: Int64, of replica: ReplicaID? = nil, sequences: ClosedRange<UInt64>? = nil, in db: Database,
        _ body: (ScannedChange, UnsafeRawBufferPointer, Dot) throws -> Void
    ) throws {
        let rowids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid FROM segment WHERE job = ?1 AND (?2 IS NULL OR replica = ?2) AND last >= ?3 AND first <= ?4
                    ORDER BY replica, last
                    """),
            arguments: [
                job, replica?.value.blob, (sequences?.lowerBound ?? 0).signed,
                sequences?.upperBound.signed ?? Int64.max,
            ])
        for rowid in rowids {
            guard
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT replica, first, bytes FROM segment WHERE rowid = ?"),
                    arguments: [rowid])
            else { continue }
            let replica = ReplicaID(UInt128(blob: row["replica"]))
            var sequence = UInt64(bitPattern: row["first"])
            let bytes = try row.withUnsafeData(named: "bytes") { $0.map { [UInt8]($0) } ?? [] }
            try ChangeCodec.forEach(bytes) { scanned, buffer in
                try body(scanned, buffer, Dot(replica: replica, sequence: sequence))
                sequence += UInt64(scanned.operationCount)
            }
        }
    }
}
