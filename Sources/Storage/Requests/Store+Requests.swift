package import CRDT
import Foundation
import GRDB
package import Inventory

/// A request that stands in a journal, and who asked.
package struct StoredRequest: Hashable, Sendable {
    /// What was asked for, as its author wrote it.
    package let request: MutationRequest
    /// Who asked first, and when.
    package let write: WriteStamp
    /// Where it stands; of several places the first by stamp, author, journal and sequence.
    package let dot: Dot
    /// Where its author put it in the timeline (rule R7).
    package let key: TimelineKey
}

/// What is known of what the server owns of a job.
package struct ServerWord: Hashable, Sendable {
    /// What the server said last, by name.
    package let published: [FieldName: String]
    /// How far it said to hold each journal, ascending by replica.
    package let accepted: [Position]
    /// The last ordering id that is held.
    package let head: UInt64
}

extension Store {
    /// Reads what the channel says of a job, as far as it is held here.
    ///
    /// - Throws: `StoreError.Code.unknownJob` when nothing is known of the job.
    package func serverWord(on job: JobID) async throws -> ServerWord {
        try await read(of: job) { rows in
            ServerWord(
                published: try rows.published(), accepted: try rows.accepted(),
                head: try rows.channel.head().sequence)
        }
    }

    /// Requests without an outcome that nobody has taken back, in the order of the timeline (rule R7).
    package func pendingRequests(of job: JobID) async throws -> [StoredRequest] {
        try await read(of: job) { try $0.pendingRequests() }
    }

    /// What was ever asked for of one kind, the earliest first.
    package func requests(of job: JobID, kind: String) async throws -> [StoredRequest] {
        try await read(of: job) { rows in
            let asked = try Row.fetchAll(
                rows.db, sql: "SELECT * FROM request WHERE job = ? AND NOT isWithdrawal ORDER BY stamp, author",
                arguments: [rows.number])
            return try asked.compactMap(Self.request).filter { $0.request.kind == kind }
        }
    }

    /// A request wherever it stands; nil when no journal here has it.
    package func request(_ token: MutationToken, job: JobID) async throws -> StoredRequest? {
        try await read(of: job) { rows in
            try Row.fetchOne(
                rows.db,
                sql: """
                    SELECT * FROM request WHERE job = ? AND token = ? AND NOT isWithdrawal
                    ORDER BY stamp, author, replica, sequence
                    """, arguments: [rows.number, token.value.blob]
            ).flatMap(Self.request)
        }
    }

    /// What the server decided; nil while it has not, as far as is known here.
    package func outcome(of token: MutationToken, job: JobID) async throws -> Outcome? {
        try await read(of: job) { try $0.outcome(of: token) }
    }

    /// Whether somebody took a request back.
    package func isWithdrawn(_ token: MutationToken, job: JobID) async throws -> Bool {
        try await read(of: job) { try $0.isWithdrawn(token) }
    }

    static func request(_ row: Row) throws -> StoredRequest? {
        let author = ReplicaID(UInt128(blob: row["author"]))
        let stamp = Stamp(rawValue: UInt64(bitPattern: row["stamp"]))
        let dot = Dot(
            replica: ReplicaID(UInt128(blob: row["replica"])), sequence: UInt64(bitPattern: row["sequence"]))
        let change = try ChangeCodec.decodeAll([UInt8](row["record"] as Data)).first
        guard let change, case .request(let request) = change.operations.first else { return nil }
        return StoredRequest(
            request: request, write: WriteStamp(stamp: stamp, author: author), dot: dot,
            key: TimelineKey(anchor: change.anchor, stamp: stamp, replica: author, sequence: dot.sequence))
    }
}

extension JobRows {
    /// Requests without an outcome that nobody has taken back, each once, in the order of the timeline (rule R7).
    func pendingRequests() throws -> [StoredRequest] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT * FROM request AS asked WHERE job = ?1 AND NOT isWithdrawal
                    AND NOT EXISTS (SELECT 1 FROM outcome WHERE job = ?1 AND token = asked.token)
                    AND NOT EXISTS (SELECT 1 FROM request WHERE job = ?1 AND token = asked.token AND isWithdrawal)
                ORDER BY stamp, author, replica, sequence
                """)
        var known: Set<MutationToken> = []
        return try Row.fetchAll(statement, arguments: [number]).compactMap(Store.request)
            .filter { known.insert($0.request.token).inserted }.sorted { $0.key < $1.key }
    }
}
