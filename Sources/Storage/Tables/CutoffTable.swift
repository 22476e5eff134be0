import Authorship
import CRDT
import Foundation
import GRDB

/// How far the journals of revoked laptops count, job by job (docs/membership.md).
///
/// By a job's id and not its number: what is said of a job may be known before anything else of it.
struct CutoffTable {
    let db: Database

    /// Nearly always there is none.
    func heads(of job: JobID) throws -> [DeviceID: VersionVector] {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT device, heads FROM cutoff WHERE job = ?"), arguments: [job.text])
        var heads: [DeviceID: VersionVector] = [:]
        for row in rows {
            guard let device = DeviceID(row["device"] as String) else { continue }
            heads[device] = try VersionVector(encoded: [UInt8](row["heads"] as Data))
        }
        return heads
    }

    var isEmpty: Bool {
        get throws {
            try RawStatement("SELECT 1 FROM cutoff LIMIT 1", in: db).first(body: { $0.number(0) }) == nil
        }
    }

    /// Puts them in the place of what was known.
    func set(_ cutoffs: [DeviceID: JobRoster.Cutoff], of job: JobID) throws {
        for (device, cutoff) in cutoffs {
            try db.execute(
                sql: """
                    INSERT INTO cutoff (job, device, heads) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET heads = excluded.heads
                    """,
                arguments: [job.text, device.description, Data(cutoff.heads.encoded)])
        }
    }
}

/// Of some journals of a job only the beginning counts: what follows is late until a person decides.
struct JournalLimits: Hashable {
    /// Without those of which all counts.
    private(set) var bySequence: [ReplicaID: UInt64] = [:]

    /// Whether a change counts whose transforms have these sequences.
    func includes(_ dot: Dot, count: Int) -> Bool {
        guard !bySequence.isEmpty, let last = bySequence[dot.replica] else { return true }
        return dot.sequence + UInt64(count) - 1 <= last
    }

    /// The same for a whole change.
    func includes(_ dotted: DottedChange) -> Bool {
        includes(dotted.dot, count: dotted.change.operations.count)
    }

    /// 0 where all counts; tells what is counted differently apart.
    var fingerprint: UInt64 {
        guard !bySequence.isEmpty else { return 0 }
        var bytes = ByteWriter()
        for (replica, sequence) in bySequence.sorted(by: { $0.key < $1.key }) {
            bytes.write(replica.value)
            bytes.write(sequence)
        }
        return bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (0x6375_746f_6666, 0x6d75_7374_6572)) }
    }

    fileprivate mutating func set(_ replica: ReplicaID, to last: UInt64) { bySequence[replica] = last }
}

extension JobRows {
    /// What counts of the journals that are held, or of some that come.
    ///
    /// - Parameter more: a journal of which nothing may be held yet.
    func limits(and more: ReplicaID? = nil) throws -> JournalLimits {
        var limits = JournalLimits()
        let table = CutoffTable(db: db)
        guard try !table.isEmpty, let job = try id() else { return limits }
        let cutoffs = try table.heads(of: job)
        guard !cutoffs.isEmpty else { return limits }
        let held = try vector()
        for replica in Set(held.entries.map(\.replica) + [more].compactMap(\.self)) {
            let author = try AuthorTable(db: db).author(named: replica)
            guard let heads = author.flatMap({ cutoffs[$0.device] }) else { continue }
            let head = heads[replica]
            // Another content than the one that counts may have been put here in a laptop's name: nothing of it does.
            let isOther = try held[replica].sequence >= head.sequence && !journal(of: replica).passes(head)
            limits.set(replica, to: isOther ? 0 : head.sequence)
        }
        return limits
    }

    /// What counts has changed.
    func recount(from former: JournalLimits) throws {
        let held = try vector()
        let present = try limits()
        let hasChanged = held.entries.contains { entry in
            let counted = [former, present].map { min($0.bySequence[entry.replica] ?? .max, entry.head.sequence) }
            return counted[0] != counted[1]
        }
        if hasChanged { try rebuildItems() }
    }
}
