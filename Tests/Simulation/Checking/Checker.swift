import CRDT
import Inventory
import Replication
import Storage
import Timekeeping

/// Holds each device against the rules after everything that it does.
///
/// What has just changed is looked at every time; everything that a store holds only now and then, after each start and
/// in the end, because it costs a walk through the store.
final class Checker {
    struct Acknowledged {
        let device: Int
        let item: ItemID
    }

    private struct SeenState: Hashable {
        let vector: VersionVector
        let held: Set<Dot>
    }

    let job: JobID
    /// Replicas whose store was copied or set back: their journals may have two contents until that is noticed.
    var forkable: Set<ReplicaID> = []
    /// Changes that have left a device, by content: they never change again.
    private(set) var published: [Dot: UInt64] = [:]
    /// Edits that were acknowledged to a person, by what finds them again. What only a store had that was set back is
    /// nobody's fault.
    var acknowledged: [String: Acknowledged] = [:]
    /// What people asked of the office, acknowledged.
    var requests: [MutationToken: MutationRequest] = [:]
    /// By whom and when each edit was written first.
    private var firstWrites: [String: Set<WriteStamp>] = [:]
    /// Exports by version vector, and what of it is held (rule R3).
    private var exports: [SeenState: UInt64] = [:]

    init(job: JobID) {
        self.job = job
    }

    // MARK: Events

    func acknowledge(_ wishes: [Wish], by device: Device, plan: Plan) {
        for wish in wishes {
            let item = plan.item(wish.item)
            let mark = wish.kind == .remove ? Reference.removalMark(item) : wish.mark
            acknowledged[mark] = Acknowledged(device: device.index, item: item)
        }
    }

    /// A device's own work was reported durable.
    func wrote(
        _ commit: Commit, after known: JournalHead, by device: Device, among devices: [Device], now: Int64
    ) async throws {
        guard commit.segment.first == known.sequence + 1, commit.segment.replica == device.store.identity.replica else {
            throw Violation("R9", "\(device) wrote \(commit.segment.brief) after \(known.sequence).")
        }
        let before = device.reference
        let wasRemoved = before.statements.isJobRemoved
        let added = try device.reference.append(commit.segment)
        if wasRemoved, let entry = added.first(where: { !$0.isStatement }) {
            throw Violation("R10", "\(device) wrote \(entry.first) in a job that it knows is removed.")
        }
        remember(added)
        try checkStamps(of: added, by: device, now: now)
        try checkFolds(in: added, by: device, knowing: before, among: devices)
        // Of a removed job nothing is stamped anew: what was written in it is forgotten.
        if device.time.isSynchronised || device.reference.statements.isJobRemoved {
            device.unseen = [:]
        } else if device.exposedLinks.isEmpty, device.lieMilliseconds == 0,
            !added.contains(where: { $0.change?.operations.allSatisfy(\.isStatement) ?? false })
        {
            // A stamp that had to follow its item says nothing of its time.
            let time = device.receiveTime(at: now).milliseconds
            for entry in added where entry.change?.stamp.milliseconds == time { device.unseen[entry.first] = now }
        }
        try await changed(device, added, applied: commit.applied, now: now)
    }

    /// A piece of another replica's journal was reported durable.
    func stored(
        _ segment: JournalSegment, applied: [AppliedChange], by device: Device, now: Int64
    ) async throws {
        let added = try device.reference.append(segment)
        try checkAuthors(of: added, on: device)
        // Of a long piece the store does not say what it applied; after a cut that says little.
        let isPlain = !device.reference.statements.hasCuts && added.allSatisfy { $0.change != nil && !$0.isStatement }
        guard isPlain, !applied.isEmpty || added.count < 20 else { return try await look(at: device, now: now) }
        let shown = Set(applied.map(\.dot))
        for entry in added where !shown.contains(entry.dot) { device.reference.held.insert(entry.dot) }
        try checkHolding(of: added, by: device, now: now)
        try await changed(device, added, applied: applied, now: now)
    }

    private func changed(
        _ device: Device, _ added: [Reference.Entry], applied: [AppliedChange], now: Int64
    ) async throws {
        let hasCut = added.contains { $0.change?.operations.contains(where: \.isCut) ?? false }
        device.changesSinceLook += 1
        if hasCut || device.changesSinceLook >= 25 { return try await look(at: device, now: nil) }
        // The last state of each item that the store says it has made.
        var states: [ItemID: ItemState] = [:]
        for change in applied { states[change.change.item] = change.after }
        for item in Set(added.compactMap(\.change?.item)).sorted() {
            guard let state = states[item] else { continue }
            try compare(item, state, on: device)
        }
    }

    /// What a device writes itself, or stamps anew.
    func remember(_ entries: some Sequence<Reference.Entry>) {
        for entry in entries {
            guard let change = entry.change, change.origin == nil else { continue }
            for mark in Reference.marks(of: change) {
                firstWrites[mark, default: []].insert(change.write(in: entry.replica))
            }
        }
    }

    /// Rule R9: who issues a change again leaves it its first author and stamp.
    private func checkAuthors(of entries: some Sequence<Reference.Entry>, on device: Holder) throws {
        for entry in entries {
            guard let change = entry.change, change.origin != nil else { continue }
            try checkAuthor(of: change, in: entry.replica, on: device)
        }
    }

    /// A device has issued again what stood in the branch of a journal that it gave up.
    func reissued(_ segment: JournalSegment, by device: Holder) throws {
        for change in try ChangeCodec.decodeAll(segment.bytes) {
            try checkAuthor(of: change, in: segment.replica, on: device)
        }
    }

    private func checkAuthor(of change: Change, in journal: ReplicaID, on device: Holder) throws {
        let write = change.write(in: journal)
        for mark in Reference.marks(of: change) where change.item != .job {
            guard firstWrites[mark]?.contains(write) == false else { continue }
            throw Violation(
                "R9", "on \(device), \(mark) is issued again as if \(write.author) had written it.")
        }
    }

    /// Rule R4: nothing is claimed or passed on that is not durable.
    func sent(_ message: Message, by device: Device) throws {
        switch message {
        case .have(let job, let entries): try claims(entries, of: job, by: device)
        case .vector(let job, let vector): try claims(vector.entries, of: job, by: device)
        case .delta(let job, let segment, _):
            try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
            if job == self.job { try publish(segment) }
        default: break
        }
    }

    /// The office is about to get it.
    func showed(_ segment: JournalSegment, by device: Device) throws {
        try claims([VersionVector.Entry(replica: segment.replica, head: segment.head)], of: job, by: device)
        try publish(segment)
    }

    private func claims(_ entries: [VersionVector.Entry], of job: JobID, by device: Device) throws {
        for entry in entries {
            let head =
                job == self.job
                ? device.reference.head(of: entry.replica) : device.rescued[job]?[entry.replica] ?? .empty
            guard entry.head.sequence > head.sequence else { continue }
            throw Violation("R4", "\(device) speaks of \(entry.brief), durable is \(head.sequence).")
        }
    }

    /// Rules R5 and R9: what somebody has seen has one content for ever.
    private func publish(_ segment: JournalSegment) throws {
        guard !forkable.contains(segment.replica) else { return }
        var sequence = segment.first
        var flaw: Violation?
        try ChangeCodec.scan(segment.bytes) { scanned, buffer in
            let record = UnsafeRawBufferPointer(rebasing: buffer[scanned.record])
            let hash = SipHash.hash(record, key: (1, 2))
            let dot = Dot(replica: segment.replica, sequence: sequence)
            // A stub is not what was seen, but what is left of it.
            if scanned.stub == nil, let former = published.updateValue(hash, forKey: dot), former != hash, flaw == nil {
                flaw = Violation("R9", "\(segment.brief) has another content at \(sequence) than was seen before.")
            }
            sequence += UInt64(scanned.operationCount)
        }
        if let flaw { throw flaw }
    }

    func renewed(_ device: Device, from former: StoreIdentity) throws {
        guard device.store.identity.replica != former.replica else {
            throw Violation("R9", "\(device) was to renew itself and kept its name.")
        }
    }

    /// The store is about to lose what came after its backup: what nobody else holds is lost with it.
    func restoring(_ device: Holder, to backup: Reference, others: [Holder]) {
        var kept = Set(backup.marks.keys)
        var open = Set(RequestStanding(backup).requests.keys)
        for other in others where other !== device {
            kept.formUnion(other.reference.marks.keys)
            open.formUnion(RequestStanding(other.reference).requests.keys)
        }
        for mark in device.reference.marks.keys where !kept.contains(mark) { acknowledged[mark] = nil }
        for token in RequestStanding(device.reference).requests.keys where !open.contains(token) {
            requests[token] = nil
        }
    }

    // MARK: Whole stores

    /// The store was opened anew, or has rewritten a journal: everything is read again.
    ///
    /// - Parameter hasGivenUpBranch: it has issued its own changes again that stood in the branch of a journal that it gave
    ///   up (rule R9). What was written on a removed item need not be among them: it can have no effect (rule R2).
    func reloaded(_ device: Holder, hasGivenUpBranch: Bool = false, now: Int64) async throws {
        var fresh = try await read(device)
        fresh.remember(device.reference)
        for (mark, item) in device.reference.marks where fresh.marks[mark] == nil {
            guard hasGivenUpBranch, fresh.expected(item).isRemoved || fresh.gone.contains(item) else {
                throw Violation("R4", "\(device) has lost \(mark), which was durable.")
            }
            acknowledged[mark] = nil
        }
        device.reference = fresh
        try checkAuthors(of: fresh.journals.values.joined(), on: device)
        try await look(at: device, now: now)
    }

    /// What a store's journals hold, byte for byte.
    func read(_ device: Holder) async throws -> Reference {
        var fresh = Reference()
        for (job, vector) in try await device.store.vectors() where job == self.job {
            for entry in vector.entries {
                var next: UInt64 = 1
                while next <= entry.head.sequence {
                    let segment = try await device.store.segment(
                        of: entry.replica, job: job, from: next, maximumBytes: .max)
                    guard let segment, segment.first == next else {
                        throw Violation("R9", "\(device) lacks \(entry.brief) from \(next) on.")
                    }
                    _ = try fresh.append(segment)
                    next = segment.head.sequence + 1
                }
                guard fresh.head(of: entry.replica) == entry.head else {
                    throw Violation("R9", "\(device) holds another journal than \(entry.brief).")
                }
            }
        }
        fresh.held = try await held(by: device)
        return fresh
    }

    private func held(by device: Holder) async throws -> Set<Dot> {
        Set(try await device.store.heldChanges().filter { $0.job == job }.map(\.dot))
    }

    /// Compares every item of a store with the reference, and its export with others at the same vector.
    ///
    /// - Parameter now: nil while something may be due that was not applied yet.
    func look(at device: Holder, now: Int64?) async throws {
        device.changesSinceLook = 0
        guard let vector = try? await device.store.vector(of: job) else {
            guard device.reference.heads.isEmpty else {
                throw Violation("R4", "\(device) has lost the job.")
            }
            return
        }
        let heads = Dictionary(uniqueKeysWithValues: vector.entries.map { ($0.replica, $0.head) })
        guard heads == device.reference.heads else {
            throw Violation("R4", "\(device) does not hold what it reported durable.")
        }
        device.reference.held = try await held(by: device)
        let stored = try await device.store.items(job: job, limit: .max)
        let known = Set(stored.map(\.id))
        for item in stored { try compare(item.id, item.state, on: device) }
        guard try await device.store.isRemoved(job) == device.reference.statements.isJobRemoved else {
            throw Violation("R10", "\(device) does not say that the job is removed, or says so wrongly.")
        }
        if let missing = device.reference.items.keys.sorted().first(where: {
            $0 != .job && !known.contains($0) && !device.reference.mayMiss($0)
        }) {
            throw Violation("R3", "\(device) lacks item \(missing).")
        }
        try await checkLateWork(of: device)
        if let device = device as? Device { try await checkOverlay(of: device) }
        let digest = try await export(of: device).withUnsafeBytes { SipHash.hash($0, key: (0, 0)) }
        // Who was sent stubs but not yet the fold that they come from is on the way, and lacks what the fold says.
        let isRemoved = device.reference.statements.isJobRemoved
        guard device.reference.isComplete || isRemoved else { return }
        let isWaiting = try await !device.store.holdsWhatFoldsName(of: job)
        guard isRemoved || !isWaiting else {
            throw Violation("R10", "\(device) waits for something forgotten that it has.")
        }
        let key = SeenState(vector: vector, held: device.reference.held)
        if let other = exports.updateValue(digest, forKey: key), other != digest {
            throw Violation(
                "R3",
                "\(device) exports other bytes than another with the same vector: "
                    + String(decoding: try await export(of: device).suffix(600), as: UTF8.self))
        }
    }

    private func compare(_ item: ItemID, _ state: ItemState, on device: Holder) throws {
        guard item != .job else { return }
        let expected = device.reference.expected(item)
        let isShown = state.removed == nil && !(state.fields.isEmpty && state.remarks.isEmpty)
        try checkZombies(on: device, item, isShown: isShown)
        if let difference = expected.difference(from: state) {
            throw Violation(difference.rule, "on \(device), item \(item): \(difference.text).")
        }
    }

    func exportsOfRescued(on device: Device) async throws -> [[UInt8]] {
        var exports: [[UInt8]] = []
        for job in device.rescued.keys.sorted() { exports.append(try await export(of: device, job)) }
        return exports
    }

    func export(of device: Holder, _ job: JobID? = nil) async throws -> [UInt8] {
        let job = job ?? self.job
        var bytes: [UInt8] = []
        let cursor = try device.store.exportCursor(of: job)
        while let piece = try await cursor.next() { bytes += piece }
        return bytes
    }
}

extension CRDT.Operation {
    /// Makes somebody's work late, or lets items be forgotten.
    fileprivate var isCut: Bool {
        switch self {
        case .expel, .fold, .removeJob, .hold: true
        default: false
        }
    }
}

extension Reference {
    /// Nothing that counts was written of it, or all of it is forgotten.
    fileprivate func mayMiss(_ item: ItemID) -> Bool { expected(item) == ExpectedItem([]) }
}
