package import CRDT
package import Inventory
package import Replication

/// A store in memory with the meaning of the real one: what is in it is durable, and nothing else is.
///
/// The journal is kept change by change, the items as the merged states in the order of arrival.
package struct ModelStore: Sendable {
    package struct Entry: Hashable, Sendable {
        package let change: Change
        package let record: [UInt8]
        package let head: JournalHead
    }

    package struct JobData: Sendable {
        package var journals: [ReplicaID: [Entry]] = [:]
        package var items: [ItemID: ItemState] = [:]
    }

    package private(set) var device: DeviceID
    package private(set) var replica: ReplicaID
    package private(set) var jobs: [JobID: JobData] = [:]
    package var clock = HybridLogicalClock()

    package init(device: DeviceID, replica: ReplicaID) {
        self.device = device
        self.replica = replica
    }

    package func vector(of job: JobID) -> VersionVector {
        let entries = jobs[job, default: JobData()].journals.compactMap { replica, entries in
            entries.last.map { VersionVector.Entry(replica: replica, head: $0.head) }
        }
        return VersionVector(entries)
    }

    package func vectors() -> [(job: JobID, vector: VersionVector)] {
        jobs.keys.sorted().map { ($0, vector(of: $0)) }
    }

    package mutating func renew(device: DeviceID?, replica: ReplicaID) {
        self.device = device ?? self.device
        self.replica = replica
    }

    /// Makes an edit; nil when the item refuses it.
    package mutating func edit(_ edit: Edit, job: JobID, nowMilliseconds: UInt64) -> JournalSegment? {
        let state = jobs[job, default: JobData()].items[edit.item] ?? ItemState()
        guard let operations = try? edit.composed(on: state, by: replica) else { return nil }
        let stamp = clock.tick(nowMilliseconds: nowMilliseconds)
        let change = Change(item: edit.item, stamp: stamp, operations: operations)
        return append([change], to: replica, job: job)
    }

    @discardableResult
    package mutating func append(_ changes: [Change], to replica: ReplicaID, job: JobID) -> JournalSegment? {
        let first = vector(of: job)[replica].sequence + 1
        var bytes: [UInt8] = []
        for change in changes {
            let record = ChangeCodec.encode(change)
            bytes += record
            append(change, record: record, to: replica, job: job)
        }
        let head = vector(of: job)[replica]
        return bytes.isEmpty ? nil : JournalSegment(replica: replica, first: first, head: head, bytes: bytes)
    }

    private mutating func append(_ change: Change, record: [UInt8], to replica: ReplicaID, job: JobID) {
        let before = jobs[job, default: JobData()].journals[replica]?.last?.head ?? .empty
        let digest = record.withUnsafeBytes { JournalDigest.extend(before.digest, with: $0) }
        let head = JournalHead(sequence: before.sequence + UInt64(change.operations.count), digest: digest)
        clock.observe(change.stamp, nowMilliseconds: change.stamp.milliseconds)
        jobs[job, default: JobData()].journals[replica, default: []].append(
            Entry(change: change, record: record, head: head))
        jobs[job]?.items[change.item, default: ItemState()].apply(change, in: replica)
    }

    package mutating func ingest(_ segment: JournalSegment, job: JobID) -> PersistOutcome {
        let known = vector(of: job)[segment.replica]
        if segment.replica == replica, segment.head.sequence > known.sequence { return .ownFuture }
        if segment.first > known.sequence + 1 || segment.head.sequence <= known.sequence { return .outdated(known) }
        guard let changes = try? ChangeCodec.decodeAll(segment.bytes) else { return .malformed("bytes") }
        var trial = self
        var sequence = segment.first - 1
        for change in changes {
            let isNew = sequence >= known.sequence
            sequence += UInt64(change.operations.count)
            if isNew {
                trial.append(change, record: ChangeCodec.encode(change), to: segment.replica, job: job)
            }
        }
        guard trial.vector(of: job)[segment.replica] == segment.head else { return .forked }
        self = trial
        return .stored
    }

    package func segment(
        of replica: ReplicaID, job: JobID, from sequence: UInt64, maximumBytes: Int
    ) -> JournalSegment? {
        var first: UInt64?
        var bytes: [UInt8] = []
        var head = JournalHead.empty
        for entry in jobs[job]?.journals[replica] ?? [] where entry.head.sequence >= sequence {
            if first == nil { first = entry.head.sequence - UInt64(entry.change.operations.count) + 1 }
            if !bytes.isEmpty, bytes.count + entry.record.count > maximumBytes { break }
            bytes += entry.record
            head = entry.head
        }
        return first.map { JournalSegment(replica: replica, first: $0, head: head, bytes: bytes) }
    }

    package func lookUp(_ replica: ReplicaID, job: JobID, sequence: UInt64) -> ProbeAnswer {
        let found = (jobs[job]?.journals[replica] ?? []).first { $0.head.sequence >= sequence }
        let hash = found.map { entry in entry.record.withUnsafeBytes { JournalDigest.extend(0, with: $0) } }
        return ProbeAnswer(sequence: sequence, boundary: found?.head, changeHash: hash ?? 0)
    }

    /// As `Store.adoptBranch`.
    package mutating func adoptBranch(
        _ segment: JournalSegment, job: JobID, after keep: UInt64
    ) -> (head: JournalHead, reissued: JournalSegment?)? {
        guard let changes = try? ChangeCodec.decodeAll(segment.bytes) else { return nil }
        var trial = self
        let forked = segment.replica
        let entries = jobs[job]?.journals[forked] ?? []
        let branch = entries.filter { $0.head.sequence > keep }.map(\.change)
        trial.jobs[job]?.journals[forked] = entries.filter { $0.head.sequence <= keep }
        trial.append(changes, to: forked, job: job)
        guard trial.vector(of: job)[forked] == segment.head else { return nil }
        let held = trial.writes(in: job)
        let lost = branch.filter { !held.contains(Write(change: $0, author: $0.write(in: forked))) }.map { change in
            var change = change
            change.origin = change.origin ?? forked
            return change
        }
        let reissued = trial.append(lost, to: replica, job: job)
        trial.rebuildItems(of: job)
        self = trial
        return (segment.head, reissued)
    }

    /// A change by whoever wrote it first, wherever it stands.
    private struct Write: Hashable {
        let item: ItemID
        let operations: [Operation]
        let author: WriteStamp

        init(change: Change, author: WriteStamp) {
            item = change.item
            operations = change.operations
            self.author = author
        }
    }

    private func writes(in job: JobID) -> Set<Write> {
        var writes: Set<Write> = []
        for (replica, entries) in jobs[job]?.journals ?? [:] {
            for entry in entries { writes.insert(Write(change: entry.change, author: entry.change.write(in: replica))) }
        }
        return writes
    }

    private mutating func rebuildItems(of job: JobID) {
        jobs[job]?.items = [:]
        for (replica, entries) in jobs[job]?.journals ?? [:] {
            for entry in entries {
                jobs[job]?.items[entry.change.item, default: ItemState()].apply(entry.change, in: replica)
            }
        }
    }

    /// The canonical export, as all stores with an equal vector must write it.
    package func export(_ job: JobID) -> [UInt8] {
        var export = CanonicalExport(job: job)
        var bytes: [UInt8] = []
        export.begin(into: &bytes)
        let items = jobs[job]?.items ?? [:]
        for id in items.keys.sorted() where id != .job {
            guard let state = items[id] else { continue }
            ItemStateCodec.encode(state).withUnsafeBytes { blob in
                if let item = try? PackedItem(blob) { export.add(item, id: id, into: &bytes) }
            }
        }
        export.end(into: &bytes)
        return bytes
    }
}
