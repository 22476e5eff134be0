import CRDT
import Inventory
import Storage

/// A transform that was acknowledged to a person, where it was first written.
struct Acknowledged: Hashable {
    let job: JobID
    /// Of its change.
    let dot: Dot
    let item: ItemID
    let deed: Deed
}

/// Rule R4 as people mean it: what was acknowledged shows, or was superseded by something greater, or stands on a removed
/// item, or in a list that a person reads; on every device.
extension Checker {
    /// What people did themselves; what is issued again was acknowledged to its author.
    func acknowledge(_ added: [Reference.Entry], in job: JobID) {
        for entry in added where entry.change.origin == nil {
            for work in entry.work {
                let key = Acknowledged(job: job, dot: entry.dot, item: work.item, deed: work.deed)
                acknowledged[key, default: []].insert(work.write)
            }
        }
    }

    /// The store is about to lose what came after its backup: what nobody else holds is lost with it.
    func restoring(_ device: Holder, to backup: [JobID: Reference], others: [Holder]) {
        let holders = others.filter { $0 !== device }.map(\.references) + [backup]
        for (key, writes) in acknowledged where !holders.contains(where: { holds(key, writes, $0) }) {
            acknowledged[key] = nil
        }
        for (job, reference) in device.references {
            var open: Set<MutationToken> = []
            for holder in holders {
                if let other = holder[job] { open.formUnion(RequestStanding(other, of: job).requests.keys) }
            }
            var held = Set(RequestStanding(reference, of: job).requests.keys)
            // With the removal that took them these are lost, too.
            if reference.isRemoved { held.formUnion(requestsWentWithJob[job] ?? []) }
            for token in held where !open.contains(token) {
                requests[job]?[token] = nil
            }
        }
    }

    private func holds(_ key: Acknowledged, _ writes: Set<WriteStamp>, _ references: [JobID: Reference]) -> Bool {
        writes.contains { write in
            let work = Written(item: key.item, deed: key.deed, write: write)
            if references.values.contains(where: { $0.work.contains(work) }) { return true }
            return references[key.job]?.isRemoved ?? false && wentWithJob[key.job]?.contains(work) ?? false
        }
    }

    /// A person dropped late work: nobody has to find it again.
    func dropped(_ work: Set<Written>) {
        for (key, writes) in acknowledged
        where writes.contains(where: { work.contains(Written(item: key.item, deed: key.deed, write: $0)) }) {
            acknowledged[key] = nil
        }
    }

    /// Every acknowledged transform, looked for in what this device shows to people.
    ///
    /// - Parameter isExpected: whether it is to hold what was written under a name in a job; of others' work in a job that it is not
    ///   on it holds what came before.
    func checkAcknowledged(
        on device: Holder, where isExpected: (JobID, ReplicaID) -> Bool = { _, _ in true }
    ) async throws {
        var surfaces: [JobID: Surface] = [:]
        for job in device.references.keys where !device[job].isEmpty {
            surfaces[job] = try await Surface(of: job, in: device.store)
        }
        var lost: [String] = []
        for (key, writes) in acknowledged where isExpected(key.job, key.dot.replica) {
            count(.acknowledged)
            let work = writes.map { Written(item: key.item, deed: key.deed, write: $0) }
            if work.contains(where: { surfaces[key.job]?.shows($0) ?? false }) { continue }
            let wentWithJob = wentWithJob[key.job] ?? []
            if surfaces[key.job]?.isRemoved ?? false {
                // A person removed it with its job, or took it into another.
                if work.contains(where: wentWithJob.contains) { continue }
                if surfaces.values.contains(where: { surface in work.contains(where: surface.shows) }) { continue }
                if work.contains(where: { takenForBeginning[key.job]?.contains($0) ?? false }) { continue }
            }
            lost.append("\(key.deed) of \(key.item) at \(key.dot.replica.description.prefix(4)):\(key.dot.sequence)")
        }
        if let first = lost.min() {
            throw Violation("R4", "\(first) was acknowledged, and \(device) does not show it to anybody.")
        }
    }
}

/// What a store shows to people of a job.
private struct Surface {
    let isRemoved: Bool
    private var lines: Set<Written> = []
    private var states: [ItemID: ItemState] = [:]
    private var late: Set<Written> = []

    init(of job: JobID, in store: Store) async throws {
        isRemoved = try await store.isRemoved(job)
        guard !isRemoved else {
            for change in try await store.lateChanges(of: job) {
                late.formUnion(change.change.work(in: change.dot.replica))
            }
            return
        }
        for item in try await store.items(job: job, limit: .max) { states[item.id] = item.state }
        states[.job] = try await store.job(job).properties
        for line in try await store.timeline(of: job, item: nil).rest() { lines.formUnion(line.work) }
    }

    /// In the log, and in the item: winning, or replaced by something greater, or in the list of conflicts.
    func shows(_ work: Written) -> Bool {
        guard !isRemoved else { return late.contains(work) }
        guard lines.contains(work), let state = states[work.item] else { return false }
        switch work.deed {
        case .remove: return state.removed != nil
        case .append(_, let text): return state.remarks.contains { $0.write == work.write && Text($0.text) == text }
        case .set(let field, let value):
            guard let register = state.fields.first(where: { Text($0.name) == field })?.register,
                let winner = register.winner
            else { return false }
            if winner.write == work.write { return Text(winner.value) >= value }
            return winner.write > work.write
                || register.heads.contains { $0.write == work.write && Text($0.value) == value }
        }
    }
}

extension TimelineEntry {
    /// What the line says that somebody did.
    var work: [Written] {
        let write = WriteStamp(stamp: key.stamp, author: author)
        var deeds = settings.map { Deed.set(field: Text($0.field), value: Text($0.value)) }
        deeds += notes.map { .append(list: Text(WellKnownField.notes), text: Text($0)) }
        if isRemoval { deeds.append(.remove) }
        return deeds.map { Written(item: item, deed: $0, write: write) }
    }
}
