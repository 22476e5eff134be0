package import CRDT
import GRDB
import Inventory
import Synchronization

/// What a person does about late work: nothing of it is lost, and nothing of it is applied before that.
extension Store {
    /// The late changes of a job that nobody has dealt with, journal by journal.
    package func lateChanges(of job: JobID) async throws -> [LateChange] {
        try await read { db in try LateWork.changes(of: try JobTable.existingNumber(of: job, in: db), in: db) }
    }

    /// Writes the late changes of a replica up to a sequence again, as this store's own. What they did to items that are
    /// gone is done to new items that name the old ones; of a removed job a new job "NAME (late)" is made.
    ///
    /// - Returns: what was written, one commit per job; empty when there was nothing late.
    package func acceptLate(
        replica: ReplicaID, upTo sequence: UInt64, job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime
    ) async throws -> [Commit] {
        try await write { [self] db in
            let now = now()
            let number = try JobTable.existingNumber(of: job, in: db)
            let late = try lateWork(of: replica, upTo: sequence, job: number, in: db)
            guard let last = late.last else { return [] }
            let decision = CRDT.Operation.decide(replica, upTo: last.dot.sequence)
            let anchor = try anchor(of: number, in: db)
            if try StatementTable.roster(of: number, in: db).removal != nil {
                let rescued = try rescue(late, from: job, number: number, now: now, in: db)
                let bytes = statement([decision], anchor: anchor, nowMilliseconds: now.milliseconds)
                let decided = try append(bytes, job: job, number: number, now: now, in: db)
                return [rescued, decided].compactMap(\.self)
            }
            var accepted = AcceptedWork(
                job: job, number: number, replica: identity.replica, anchor: anchor, store: self,
                nowMilliseconds: now.milliseconds)
            for change in late { try accepted.take(change, in: db) }
            let own = JournalKey(job: number, replica: identity.replica)
            let head = try JournalTable.head(of: own, in: db)
            var bytes = try presence(
                in: own, head: head, anchor: anchor, nowMilliseconds: now.milliseconds, in: db)
            bytes += accepted.bytes
            bytes += statement([decision], anchor: anchor, nowMilliseconds: now.milliseconds)
            return [try appendAsIs(bytes, after: head, job: job, number: number, now: now, in: db)]
        }
    }

    /// Decides that the late changes of a replica up to a sequence are not wanted.
    /// - Returns: nil when there was nothing late.
    package func dropLate(
        replica: ReplicaID, upTo sequence: UInt64, job: JobID, now: @autoclosure @escaping @Sendable () -> ReceiveTime
    ) async throws -> Commit? {
        try await write { [self] db in
            let now = now()
            let number = try JobTable.existingNumber(of: job, in: db)
            let late = try lateWork(of: replica, upTo: sequence, job: number, in: db)
            guard let last = late.last else { return nil }
            let anchor = try anchor(of: number, in: db)
            let bytes = statement(
                [.decide(replica, upTo: last.dot.sequence)], anchor: anchor, nowMilliseconds: now.milliseconds)
            return try append(bytes, job: job, number: number, now: now, in: db)
        }
    }

    private func lateWork(
        of replica: ReplicaID, upTo sequence: UInt64, job: Int64, in db: Database
    ) throws -> [LateChange] {
        try LateWork.changes(of: job, in: db).filter { $0.dot.replica == replica && $0.dot.sequence <= sequence }
    }

    /// Makes what was late in a removed job a job of its own, which has the same id whoever makes it.
    private func rescue(
        _ late: [LateChange], from job: JobID, number: Int64, now: ReceiveTime, in db: Database
    ) throws -> Commit? {
        guard let first = late.first else { return nil }
        let rescued = JobID(
            ItemID.derived(from: Array(job.text.utf8), first.dot, milliseconds: first.change.stamp.milliseconds))
        let target = try JobTable.numberAddingIfNew(rescued, in: db)
        let own = JournalKey(job: target, replica: identity.replica)
        let head = try JournalTable.head(of: own, in: db)
        var accepted = AcceptedWork(
            job: rescued, number: target, replica: own.replica, anchor: 0, store: self,
            nowMilliseconds: now.milliseconds)
        let properties = try ItemTable.state(of: .job, job: number, in: db)
        let name = properties?.value(of: JobProperty.name) ?? job.text
        let kind = properties?.value(of: JobProperty.kind) ?? JobKind.inventory.rawValue
        try accepted.set([(JobProperty.name, "\(name) (late)"), (JobProperty.kind, kind)], on: .job, in: db)
        for change in late where change.change.item != .job { try accepted.take(change, in: db) }
        var bytes = try presence(
            in: own, head: head, anchor: 0, nowMilliseconds: now.milliseconds, in: db)
        bytes += accepted.bytes
        return try appendAsIs(bytes, after: head, job: rescued, number: target, now: now, in: db)
    }
}

extension ItemID {
    /// An id that everybody derives alike for an item that stands for another, so that two people who accept the same
    /// work make one item of it.
    static func derived(from name: [UInt8], _ dot: Dot, milliseconds: UInt64) -> ItemID {
        var bytes = name
        withUnsafeBytes(of: dot.replica.value.bigEndian) { bytes += $0 }
        withUnsafeBytes(of: dot.sequence.bigEndian) { bytes += $0 }
        var generator = Derivation(
            state: bytes.withUnsafeBytes { SipHash.hash($0, key: (0x6c61_7465, 0x776f_726b)) })
        return ItemID(milliseconds: milliseconds, using: &generator)
    }

    /// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
    private struct Derivation: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }
    }
}
