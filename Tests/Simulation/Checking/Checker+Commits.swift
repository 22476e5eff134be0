import CRDT
import Storage

/// What a transaction has changed on a disk, found by comparing it with what was there before it.
extension Checker {
    /// What is known of the transaction.
    struct Transaction {
        let writing: Writing
        /// No other transaction became durable in the same moment: what was held before it is what its author saw.
        let isAlone: Bool
        /// When it became durable, in microseconds of true time.
        let at: Int64
    }

    /// Something may have been written: what differs from before is held against the rules.
    func wrote(_ device: Holder, _ transaction: Transaction) async throws {
        defer { device.formerReplica = device.store.identity.replica }
        writers[device.store.identity.replica] = device.store.identity.device
        let removals = Dictionary(uniqueKeysWithValues: try await device.store.removals())
        var decided: [JobID: Set<ChangeIdentity>] = [:]
        for (job, vector) in try await device.store.vectors() {
            let isEnding = removals[job] != device.removals[job]
            guard isEnding || vector != device.vectors[job] else { continue }
            (device.vectors[job], device.removals[job]) = (vector, removals[job])
            if isEnding {
                try await ended(job, upTo: vector, by: device)
            } else if !vector.entries.isEmpty {
                decided[job] = try await advanced(job, to: vector, on: device, transaction)
            }
        }
        for (job, changes) in decided.sorted(by: { $0.key < $1.key }) where !changes.isEmpty {
            noteDecided(changes, of: job, on: device, with: Set(decided.keys).subtracting([job]))
        }
    }

    // MARK: A job that ends

    private func ended(_ job: JobID, upTo vector: VersionVector, by device: Holder) async throws {
        let (before, own) = (device[job], device.store.identity.replica)
        var known = before
        let added = try await read(own, upTo: vector[own], into: &known, of: job, from: device)
        noteWritten(added ?? [], in: known, of: job)
        for entry in added ?? [] where entry.change.origin == nil {
            for case .removeJob(let removal) in entry.change.operations {
                try removed(job, by: device, knowing: before, saying: removal)
            }
        }
        try await ended(job, knowing: before, on: device)
    }

    // MARK: A job that goes on

    /// - Returns: the late changes about which its people have decided in this transaction.
    private func advanced(
        _ job: JobID, to vector: VersionVector, on device: Holder, _ transaction: Transaction
    ) async throws -> Set<ChangeIdentity> {
        let before = device[job]
        var after = before
        var added: [ReplicaID: [Reference.Entry]] = [:]
        for entry in vector.entries where entry.head != before.head(of: entry.replica) {
            let grown = try await read(entry.replica, upTo: entry.head, into: &after, of: job, from: device)
            guard let grown else { return try await rewritten(job, upTo: vector, on: device, transaction) }
            added[entry.replica] = grown
        }
        device.references[job] = after
        for name in device.names { noteWritten(added[name] ?? [], in: after, of: job) }
        try checkWritten(vector.entries.filter { added[$0.replica] != nil }, of: job, on: device)
        let own = added[device.store.identity.replica] ?? []
        let isAlone = transaction.isAlone && added.count == 1
        try wroteItself(own, in: job, knowing: isAlone ? before : nil, by: device, transaction.writing)
        let all = added.sorted { $0.key < $1.key }.flatMap(\.value)
        try checkAuthors(of: all, on: device)
        let told = all.filter { $0.replica != device.store.identity.replica }
        for token in told.requests { device.openSince[token] = transaction.at }
        try await changed(device, job, all)
        return own.decided
    }

    /// Reads on in a journal where the reference ends.
    ///
    /// - Returns: nil when what the reference knows of it is not there any more.
    private func read(
        _ replica: ReplicaID, upTo head: JournalHead, into reference: inout Reference, of job: JobID,
        from device: Holder
    ) async throws -> [Reference.Entry]? {
        var added: [Reference.Entry] = []
        while reference.head(of: replica).sequence < head.sequence {
            let next = reference.head(of: replica).sequence + 1
            let segment = try await device.store.segment(
                of: replica, job: job, from: next, maximumBytes: 1 << 20)
            guard let segment, segment.first <= next, segment.head.sequence >= next else { return nil }
            added += try reference.append(segment)
            let last = Dot(replica: replica, sequence: segment.head.sequence)
            guard reference.digest(at: last) == segment.head.digest else { return nil }
        }
        return reference.head(of: replica) == head ? added : nil
    }

    /// The device's own work: of its people, not what is issued again.
    private func wroteItself(
        _ added: [Reference.Entry], in job: JobID, knowing before: Reference?, by device: Holder, _ writing: Writing
    ) throws {
        guard !added.isEmpty else { return }
        remember(added)
        if device.isChannel { return try checkChannel(of: device, job) }
        if before?.isRemoved ?? false,
            let entry = added.first(where: { !$0.isStatement && !$0.change.isPreamble && $0.change.origin == nil })
        {
            throw Violation("R10", "\(device) wrote \(entry.first) in a job that it knows is removed.")
        }
        noteShown(before: added, in: job, knowing: before)
        acknowledge(added, in: job)
        asked(added, in: job)
        try checkStamps(of: added, in: job, knowing: before, by: device, writing)
    }

    // MARK: A journal that is another one now

    /// Work was stamped anew, or a branch of a forked journal has given way; what stood in that was issued again (rule R9).
    private func rewritten(
        _ job: JobID, upTo vector: VersionVector, on device: Holder, _ transaction: Transaction
    ) async throws -> Set<ChangeIdentity> {
        let (former, own) = (device[job], device.store.identity.replica)
        let fresh = try await read(job, upTo: vector, from: device)
        let old = former.journals[own] ?? []
        let new = fresh.journals[own] ?? []
        var moved: Set<Written> = []
        if old.isSameWork(as: new), old != Array(new.prefix(old.count)) {
            moved = try restamped(
                Array(new.prefix(old.count)), instead: old, of: job, fresh, on: device, time: transaction.writing.time)
        }
        device.references[job] = fresh
        let opened = RequestStanding(fresh, of: job).pending.subtracting(RequestStanding(former, of: job).pending)
        for token in opened { device.openSince[token] = transaction.at }
        let added = new.filter { $0.last > former.head(of: own).sequence }
        noteWritten(new, in: fresh, of: job)
        try checkWritten(vector.entries, of: job, on: device)
        try wroteItself(added, in: job, knowing: nil, by: device, transaction.writing)
        try checkNothingLost(of: former, in: fresh, job, besides: moved, on: device)
        try checkAuthors(of: fresh.journals.values.joined(), on: device)
        try await look(at: device, job)
        return added.decided
    }

    // MARK: Late work

    /// What people dealt with and did not take into another job they have dropped.
    private func noteDecided(_ changes: Set<ChangeIdentity>, of job: JobID, on device: Holder, with others: Set<JobID>)
    {
        guard !changes.isEmpty else { return }
        let entries = device[job].journals.values.joined().filter { changes.contains($0.identity) }
        let taken = device.references.filter { $0.key != job }.values
        noteSeen(entries, in: others)
        dropped(Set(entries.flatMap(\.work).filter { work in !taken.contains { $0.work.contains(work) } }))
    }
}

extension [Reference.Entry] {
    fileprivate var requests: [MutationToken] {
        flatMap(\.change.operations).compactMap { if case .request(let request) = $0 { request.token } else { nil } }
    }

    fileprivate var decided: Set<ChangeIdentity> {
        var decided: Set<ChangeIdentity> = []
        for case .decide(let changes) in flatMap(\.change.operations) { decided.formUnion(changes) }
        return decided
    }

    /// The other begins with the same changes, at whatever times.
    fileprivate func isSameWork(as other: [Reference.Entry]) -> Bool {
        guard !isEmpty, other.count >= count else { return false }
        return zip(self, other).allSatisfy { mine, theirs in
            var change = theirs.change
            change.stamp = mine.change.stamp
            return mine.first == theirs.first && mine.change == change
        }
    }
}
