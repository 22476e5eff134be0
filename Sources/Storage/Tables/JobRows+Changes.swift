package import CRDT
import Foundation
import GRDB

/// A change and the dot of its first transform.
package struct DottedChange: Hashable, Sendable {
    /// Where it stands: in another journal than its author's when it was re-issued (rule R9).
    package let dot: Dot
    /// The change as the journal has it; its `origin` names the author when it was re-issued.
    package let change: Change

    /// The sequence of its last transform.
    var last: UInt64 { dot.sequence + UInt64(change.operations.count) - 1 }
}

/// The changes of the job's journals, one segment in memory at a time.
extension JobRows {
    /// Shows all changes that are held, journal by journal.
    ///
    /// - Parameters:
    ///   - replica: of one journal; nil for all of them.
    ///   - sequences: only stored rows that hold some of these.
    ///   - body: gets each record with the dot of its first transform.
    func forEachRecord(
        of replica: ReplicaID? = nil, sequences: ClosedRange<UInt64>? = nil,
        _ body: (ScannedChange, UnsafeRawBufferPointer, Dot) throws -> Void
    ) throws {
        let rowids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid FROM segment WHERE job = ?1 AND (?2 IS NULL OR replica = ?2) AND last >= ?3 AND first <= ?4
                    ORDER BY replica, last
                    """),
            arguments: [
                number, replica?.value.blob, (sequences?.lowerBound ?? 0).signed,
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

    /// The same, decoded.
    func forEachChange(
        of replica: ReplicaID? = nil, sequences: ClosedRange<UInt64>? = nil, _ body: (DottedChange) throws -> Void
    ) throws {
        try forEachRecord(of: replica, sequences: sequences) { scanned, buffer, dot in
            try body(DottedChange(dot: dot, change: ChangeCodec.decode(scanned, in: buffer)))
        }
    }
}
