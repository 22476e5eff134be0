package import CRDT
import Foundation
import GRDB

/// A request that stands in a journal here, with what came of it, as far as that is known.
package struct RequestHistory: Hashable, Sendable {
    /// The job in whose journals it stands.
    package let job: JobID
    /// The request; where it stands in several places, as `StoredRequest.dot` says.
    package let stored: StoredRequest
    /// What the server decided; nil while it has not.
    package let outcome: Outcome?
    /// When it did: corrected milliseconds since 1970.
    package let decided: UInt64?
    /// Somebody took it back, whatever came of that.
    package let isWithdrawn: Bool
    /// The number of the last attempt that this device made and still remembers.
    package let attempts: Int
}

extension Store {
    /// The requests of all jobs whose token begins so, finished ones among them; at most `limit`, ascending by token.
    ///
    /// - Parameter prefix: 1 to 32 hexadecimal digits; for anything else there are none.
    package func requests(withTokenPrefix prefix: String, limit: Int) async throws -> [RequestHistory] {
        guard let tokens = ClosedRange<UInt128>(hexadecimalPrefix: prefix.lowercased()) else { return [] }
        return try await read { db in
            // Job by job, as the index is: a look for each rather than at every request there is.
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT job.id AS name, request.* FROM job CROSS JOIN request ON request.job = job.number
                    WHERE token BETWEEN ? AND ? AND NOT isWithdrawal ORDER BY token, stamp, author, replica, sequence
                    """, arguments: [tokens.lowerBound.blob, tokens.upperBound.blob])
            var known: Set<MutationToken> = []
            var found: [RequestHistory] = []
            for row in rows where found.count < limit {
                guard let job = JobID(row["name"] as String), let stored = try Self.request(row),
                    known.insert(stored.request.token).inserted
                else { continue }
                found.append(try JobRows(row["job"], in: db).history(of: stored, job: job))
            }
            return found
        }
    }

}

extension JobRows {
    fileprivate func history(of stored: StoredRequest, job: JobID) throws -> RequestHistory {
        let token = stored.request.token
        let attempts = try Int.fetchOne(
            db, sql: "SELECT max(attempt) FROM attempt WHERE token = ?", arguments: [token.value.blob])
        return RequestHistory(
            job: job, stored: stored, outcome: try outcome(of: token), decided: try decisionTime(of: token),
            isWithdrawn: try isWithdrawn(token), attempts: attempts ?? 0)
    }

    /// The stamp of the channel's entry; nil where that is not here any more.
    private func decisionTime(of token: MutationToken) throws -> UInt64? {
        let place = try Int64.fetchOne(
            db, sql: "SELECT sequence FROM outcome WHERE job = ? AND token = ?", arguments: [number, token.value.blob])
        guard let sequence = place.map({ UInt64(bitPattern: $0) }),
            let piece = try channel.pieces(from: sequence, maximumBytes: 1).first, piece.first <= sequence
        else { return nil }
        var next = piece.first
        var holder: Change?
        try ChangeCodec.scan(piece.bytes) { scanned, buffer in
            defer { next += UInt64(scanned.operationCount) }
            guard holder == nil, next + UInt64(scanned.operationCount) > sequence else { return }
            holder = ChangeCodec.decode(scanned, in: buffer)
        }
        return holder?.stamp.milliseconds
    }
}
