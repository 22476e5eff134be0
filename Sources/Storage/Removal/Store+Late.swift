package import CRDT
import GRDB
import Inventory
import Synchronization

/// A change to a removed job that its removers had not seen, or of a revoked laptop beyond its cutoff: in its journal, but in no
/// item, until a person decides.
package struct QuarantinedChange: Hashable, Sendable {
    /// Of its first transform.
    package let dot: Dot
    /// Who wrote it first.
    package let author: ReplicaID
    /// The change as it stands in its journal; no statement, and no mere preamble.
    package let change: Change
    let identity: ChangeIdentity

    init(dot: Dot, author: ReplicaID, change: Change) {
        self.dot = dot
        self.author = author
        self.change = change
        identity = ChangeIdentity(of: change, in: dot.replica)
    }
}

/// What a person does about late work: nothing of it is lost, and nothing of it is applied before that.
extension Store {
    /// The late changes of a job that nobody has dealt with, in the order of the timeline.
    package func lateChanges(of job: JobID) async throws -> [QuarantinedChange] {
        try await read(of: job) { try QuarantinedChanges(of: $0).undecided }
    }

    /// Writes late changes again, as their authors wrote them: those of a removed job in a job "NAME (late)".
    ///
    /// - Parameter dots: exactly what a person was shown.
    /// - Returns: what was written, one commit per job.
    /// - Throws: `StoreError` when one of them is not late, or not any more. Nothing is changed then.
    package func acceptLate(
        _ dots: [Dot], of job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime,
        by user: Writer? = nil
    ) async throws -> [Commit] {
        try await write(isLong: dots.count > Self.fewEdits) { [self] db in
            let now = now()
            return try transact(on: job, now: now, by: user, in: db) { transaction in
                let named = try transaction.lateChanges(dots)
                guard !named.isEmpty else { return [] }
                let removed = transaction.job
                guard try removed.isRemoved() else {
                    let taken = try transaction.rescue(named, from: removed, called: job)
                    return try [taken] + [transaction.decide(named)].compactMap(\.self)
                }
                let rescued = try transact(
                    on: try JobRows.rescueJob(of: job, in: db), entersJob: true, now: now, by: user, in: db
                ) { try $0.rescue(named, from: removed, called: job) }
                return try [rescued] + [transaction.decide(named)].compactMap(\.self)
            }
        }
    }

    /// Decides that late changes are not wanted.
    ///
    /// - Parameter dots: exactly what a person was shown.
    /// - Throws: as `acceptLate`.
    package func dropLate(
        _ dots: [Dot], of job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime,
        by user: Writer? = nil
    ) async throws -> Commit? {
        try await write(to: job, isLong: dots.count > Self.fewEdits, now: now, by: user) { transaction in
            try transaction.decide(try transaction.lateChanges(dots))
        }
    }
}

extension JobTransaction {
    fileprivate func lateChanges(_ dots: [Dot]) throws -> [QuarantinedChange] {
        let undecided = try QuarantinedChanges(of: job).undecided
        let wanted = Set(dots)
        let named = undecided.filter { wanted.contains($0.dot) }
        guard named.count == wanted.count else {
            throw StoreError(
                .notLate, "A change that was named is not listed as late, or not any more; look at the list again.")
        }
        return named
    }

    fileprivate mutating func decide(_ late: [QuarantinedChange]) throws -> Commit? {
        let changes = late.map(\.identity).sorted()
        guard !changes.isEmpty else { return nil }
        let operations = stride(from: 0, to: changes.count, by: ChangeLimits.positions).map {
            CRDT.Operation.decide(Array(changes[$0..<min($0 + ChangeLimits.positions, changes.count)]))
        }
        return try say(operations)
    }

    /// Makes what was late in a removed job this job, which has the same id whoever makes it; or takes it into the same one.
    fileprivate mutating func rescue(
        _ late: [QuarantinedChange], from removed: JobRows, called id: JobID
    ) throws -> Commit {
        let name = try removed.removal()?.name ?? id.text
        let properties = try job.item(.job) ?? ItemState()
        var operations = try names(of: Set(late.map(\.author)), in: removed, unknownTo: properties)
        if properties.value(of: JobProperty.name) == nil, job.number != removed.number {
            operations += [
                .set(field: JobProperty.name, value: "\(name) (late)", replaces: []),
                .set(field: JobProperty.kind, value: JobKind.inventory.rawValue, replaces: []),
            ]
        }
        var bytes: [UInt8] = []
        var people = ReissuedPeople(
            of: try removed.workSessions(), in: own.replica, of: try job.workSessions())
        for late in late {
            var change = late.change
            change.origin = late.author
            // In another job it is an id of another channel.
            if job.number != removed.number || change.anchor == Change.lateAnchor { change.anchor = 0 }
            if let said = people.before(change, from: late.dot) { bytes += ChangeCodec.encode(said) }
            bytes += ChangeCodec.encode(change)
        }
        return try say(operations, after: properties.latestStamp, then: bytes)
    }

    /// What the laptops of authors are called in a removed job, for a job that has not heard of them.
    private func names(
        of authors: Set<ReplicaID>, in removed: JobRows, unknownTo properties: ItemState
    ) throws -> [CRDT.Operation] {
        let known = try removed.item(.job)
        return authors.sorted().compactMap { author in
            let field = JobProperty.author(author)
            guard author != own.replica, properties.value(of: field) == nil,
                let name = known?.value(of: field)
            else { return nil }
            return .set(field: field, value: name, replaces: [])
        }
    }
}

extension JobRows {
    /// The first of the ids that everybody derives alike whose job has not been removed in its turn.
    fileprivate static func rescueJob(of job: JobID, in db: Database) throws -> JobID {
        var count: UInt64 = 0
        while true {
            let rescued = JobID(ItemID.derived(from: Array(job.text.utf8), count: count))
            guard let known = try JobRows(known: rescued, in: db), try known.isRemoved() else { return rescued }
            count += 1
        }
    }
}

/// The late changes of a job.
struct QuarantinedChanges {
    /// What nobody has dealt with, in the order of the timeline: each once, wherever it stands, since who takes part in a fork
    /// may have issued it again.
    let undecided: [QuarantinedChange]

    init(of job: JobRows) throws {
        // Of a removed job only what lies beyond the removal is left in the journals.
        let isRemoved = try job.isRemoved()
        let limits = try job.limits()
        guard isRemoved || !limits.isEmpty else {
            undecided = []
            return
        }
        let decided = try job.decidedChanges()
        var found: [ChangeIdentity: QuarantinedChange] = [:]
        try job.forEachRecord { scanned, buffer, dot in
            guard scanned.statementCount == 0, isRemoved || !limits.includes(dot, scanned)
            else { return }
            let change = ChangeCodec.decode(scanned, in: buffer)
            guard !change.isPreamble else { return }
            let late = QuarantinedChange(dot: dot, author: change.origin ?? dot.replica, change: change)
            guard !decided.contains(late.identity) else { return }
            if let known = found[late.identity], known.dot < dot { return }
            found[late.identity] = late
        }
        undecided = found.values.sorted {
            TimelineKey($0.change, at: $0.dot) < TimelineKey($1.change, at: $1.dot)
        }
    }
}

extension Change {
    /// Says no more than who its author is, for people.
    fileprivate var isPreamble: Bool {
        item == .job
            && operations.allSatisfy {
                if case .set(let field, _, _) = $0 { JobProperty.isAuthor(field) } else { false }
            }
    }
}

extension ItemID {
    /// An id that everybody derives alike.
    static func derived(from name: [UInt8], count: UInt64) -> ItemID {
        var generator = SeededGenerator(named: name, count: count)
        return ItemID(milliseconds: generator.next(), using: &generator)
    }

    /// One of the ids that everybody derives alike for an item that takes the place of this one, when it was removed; beside it
    /// in order.
    package func successor(_ count: UInt64) -> ItemID {
        let milliseconds = UInt64(truncatingIfNeeded: value >> 80)
        var bytes = Array("successor".utf8)
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
        var generator = SeededGenerator(named: bytes, count: count)
        return ItemID(milliseconds: milliseconds, using: &generator)
    }
}

extension SeededGenerator {
    fileprivate init(named name: [UInt8], count: UInt64) {
        var bytes = name
        withUnsafeBytes(of: count.bigEndian) { bytes += $0 }
        self.init(seed: bytes.withUnsafeBytes { SipHash.hash($0, key: (0x6c61_7465, 0x776f_726b)) })
    }
}
