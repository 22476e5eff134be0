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

    /// In which something was said of a laptop.
    func jobs() throws -> [JobID] {
        try String.fetchAll(db, sql: "SELECT DISTINCT job FROM cutoff ORDER BY job").compactMap { JobID($0) }
    }

    var isEmpty: Bool {
        get throws {
            try RawStatement("SELECT 1 FROM cutoff LIMIT 1", in: db).first(body: { $0.number(0) }) == nil
        }
    }

    /// Puts them in the place of what was known.
    func set(_ cutoffs: [DeviceID: JobRoster.Cutoff], of job: JobID) throws {
        for (device, cutoff) in cutoffs { try set(cutoff.heads, of: device, in: job) }
    }

    /// The same of one laptop.
    func set(_ heads: VersionVector, of device: DeviceID, in job: JobID) throws {
        try db.execute(
            sql: """
                INSERT INTO cutoff (job, device, heads) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET heads = excluded.heads
                """,
            arguments: [job.text, device.description, Data(heads.encoded)])
    }
}

/// Of some journals of a job only the beginning counts: what follows is late until a person decides.
struct JournalLimits: Hashable {
    /// Of one journal.
    struct Limit: Hashable {
        /// Up to where it counts, as whoever cut it off has held it.
        let head: JournalHead
        /// What is held went another way before that: nothing of it counts.
        let isOther: Bool

        var last: UInt64 { isOther ? 0 : head.sequence }
    }

    /// Without those of which all counts.
    private(set) var journals: [ReplicaID: Limit] = [:]

    subscript(replica: ReplicaID) -> Limit? {
        get { journals[replica] }
        set { journals[replica] = newValue }
    }

    /// All counts.
    var isEmpty: Bool { journals.isEmpty }

    /// Whether a change counts that stands at a place.
    func includes(_ dot: Dot, _ scanned: ScannedChange) -> Bool {
        includes(dot, count: scanned.operationCount, anchor: scanned.anchor)
    }

    /// The same.
    func includes(_ dotted: DottedChange) -> Bool {
        includes(dotted.dot, count: dotted.change.operations.count, anchor: dotted.change.anchor)
    }

    private func includes(_ dot: Dot, count: Int, anchor: UInt64) -> Bool {
        guard !journals.isEmpty else { return true }
        guard anchor != Change.lateAnchor else { return false }
        return dot.sequence + UInt64(count) - 1 <= journals[dot.replica]?.last ?? .max
    }

    /// How far a journal counts of which so much is held.
    func counted(_ entry: VersionVector.Entry) -> UInt64 {
        min(journals[entry.replica]?.last ?? .max, entry.head.sequence)
    }

    /// 0 where all counts; tells what is counted differently apart.
    var fingerprint: UInt64 {
        guard !journals.isEmpty else { return 0 }
        var bytes = ByteWriter()
        for (replica, limit) in journals.sorted(by: { $0.key < $1.key }) {
            bytes.write(replica.value)
            bytes.write(limit.last)
        }
        return bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (0x6375_746f_6666, 0x6d75_7374_6572)) }
    }
}

extension Change {
    /// What stood beyond a cutoff and had to be written again (rule R9) stays late, wherever it stands: this anchor, which no
    /// channel reaches and which moves none, says so.
    static let lateAnchor = UInt64.max
}

extension JobRows {
    /// What counts of the journals that are held, or of one that comes.
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
            let isOther = try held[replica].sequence >= head.sequence && !journal(of: replica).passes(head)
            limits[replica] = JournalLimits.Limit(head: head, isOther: isOther)
        }
        return limits
    }

    /// How far each journal counts.
    func countedVector() throws -> VersionVector {
        let limits = try limits()
        return VersionVector(
            try vector().entries.compactMap { entry in
                guard let limit = limits[entry.replica], limit.last < entry.head.sequence else { return entry }
                return limit.last > 0 ? VersionVector.Entry(replica: entry.replica, head: limit.head) : nil
            })
    }

    /// What counts may have changed: the items are made anew, and what was decided of late work is read again.
    ///
    /// - Returns: whether it has.
    @discardableResult
    func recount(from former: JournalLimits) throws -> Bool {
        let present = try limits()
        guard try vector().entries.contains(where: { former.counted($0) != present.counted($0) }) else { return false }
        try recount()
        return true
    }

    /// The same, whatever they were made from.
    func recount() throws {
        try rebuildItems()
        try rebuildDecisions(counting: limits())
    }

    /// A decision beyond a cutoff is none: what it took over does not count either, and would be listed nowhere.
    private func rebuildDecisions(counting limits: JournalLimits) throws {
        // What was decided before a job ended went with it.
        guard try !isRemoved() else { return }
        try db.execute(sql: "DELETE FROM decided WHERE job = ?", arguments: [number])
        try forEachRecord { scanned, buffer, dot in
            guard scanned.statementCount > 0, limits.includes(dot, scanned) else { return }
            for case .decide(let changes) in ChangeCodec.decode(scanned, in: buffer).operations {
                try noteDecided(changes)
            }
        }
    }
}

extension JournalRows {
    /// Whether what is held here is what counts, as far as a place: of two contents of a journal that one stays (rule R9).
    func isCounted(through sequence: UInt64) throws -> Bool {
        guard let limit = try job.limits(and: replica)[replica] else { return false }
        return try !limit.isOther && sequence <= limit.head.sequence && passes(limit.head)
    }
}
