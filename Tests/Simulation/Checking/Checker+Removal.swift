import CRDT
import Inventory
import Storage

/// Rule R10: a removed job leaves what its removers had not seen, and nothing else; that is listed until a person decides.
extension Checker {
    /// A person removes a job: what is said to be held is what is held.
    func removed(_ job: JobID, by device: Holder, knowing before: Reference, saying removal: JobRemoval) throws {
        guard removal.heads == before.vector else {
            throw Violation(
                "R10", "\(device) removed \(removal.heads.brief) and held \(before.vector.brief).")
        }
        wentWithJob[job, default: []].formUnion(before.work)
        requestsWentWithJob[job, default: []].formUnion(RequestStanding(before, of: job).requests.keys)
    }

    /// A store says of a removal what follows from all that it heard of removals, and lists the late work.
    func checkRemoval(of job: JobID, on device: Holder) async throws {
        let reference = device[job]
        guard try await device.store.isRemoved(job) == reference.isRemoved else {
            throw Violation("R10", "\(device) does not say that the job is removed, or says so wrongly.")
        }
        let late = try await device.store.lateChanges(of: job)
        let removal = try await device.store.removal(of: job)
        guard reference.isRemoved else {
            guard late.isEmpty, removal == nil else {
                throw Violation("R10", "\(device) has a removal or late work of a job that lives.")
            }
            return
        }
        let named = Set(reference.removals.flatMap { $0.heads.entries.map(\.replica) })
        let expected = VersionVector(named.map { VersionVector.Entry(replica: $0, head: reference.removed(of: $0)) })
        guard removal?.heads == expected else {
            throw Violation(
                "R10", "\(device) merged the removals to \(removal?.heads.brief ?? "nothing"), not \(expected.brief).")
        }
        let name = reference.removals.map { Text($0.name) }.min()
        guard removal.map({ Text($0.name) }) == name else {
            throw Violation("R10", "\(device) calls the removed job \(removal?.name ?? ""), not \(name ?? Text("")).")
        }
        try checkLate(late, reference.late, on: device)
        try await checkNothingReadable(of: job, on: device)
    }

    /// Late work is listed until somebody decides, and nothing else is.
    private func checkLate(_ listed: [QuarantinedChange], _ expected: [Reference.Entry], on device: Holder) throws {
        let found = listed.map { "\($0.dot.brief) \($0.author) \($0.change.work(in: $0.dot.replica))" }
        let wanted = expected.map { "\($0.dot.brief) \($0.write.author) \($0.work)" }
        guard Set(found) == Set(wanted), found.count == wanted.count else {
            let names = [listed.map(\.dot.brief), expected.map(\.dot.brief)].map { $0.joined(separator: " ") }
            throw Violation("R10", "\(device) lists as late \(names[0]), but it is \(names[1]).")
        }
        if !expected.isEmpty { count(.lateChange, expected.count) }
    }

    /// What went with the job is not given to anybody any more.
    private func checkNothingReadable(of job: JobID, on device: Holder) async throws {
        let reference = device[job]
        for replica in reference.heads.keys.sorted() {
            let removed = reference.removed(of: replica).sequence
            guard removed > 0,
                let segment = try await device.store.segment(of: replica, job: job, from: 1, maximumBytes: 1)
            else { continue }
            guard segment.first > removed else {
                throw Violation("R10", "\(device) still gives \(segment.brief) of a job that was removed.")
            }
        }
    }

    /// A job has ended in a store: what no remover held is late work there, on whichever branch of a journal it stood.
    func ended(_ job: JobID, knowing former: Reference, on device: Holder) async throws {
        let vector = try? await device.store.vector(of: job)
        guard let vector else { throw Violation("R4", "\(device) has lost job \(job).") }
        let fresh = try await read(job, upTo: vector, from: device)
        let wentWithJob = wentWithJob[job] ?? []
        // Of a name that two stores had, a third one cannot tell a shorter branch from a beginning, and a copy's beginning may
        // have been stamped anew in the original: whether more of that is lost shows in the end (`checkAcknowledged`).
        let lost = former.work.filter {
            !fresh.work.contains($0) && !wentWithJob.contains($0) && !forkable.contains($0.write.author)
        }
        if let one = lost.min(by: { "\($0)" < "\($1)" }) {
            throw Violation("R10", "\(device) let \(one.deed) of \(one.item) go with the job, which no remover held.")
        }
        for (replica, entries) in former.journals where forkable.contains(replica) {
            guard former.head(of: replica).sequence < fresh.removed(of: replica).sequence else { continue }
            takenForBeginning[job, default: []].formUnion(
                entries.flatMap(\.work).filter { !fresh.work.contains($0) && !wentWithJob.contains($0) })
        }
        try checkAuthors(of: fresh.journals.values.joined(), on: device)
        device.references[job] = fresh
        try await look(at: device, job)
    }

    /// Nothing is left to free: no row belongs to what went with a job.
    func checkFreed(on device: Holder) async throws {
        guard try await device.store.orphanCount() == 0 else {
            throw Violation("R10", "\(device) has freed all that it will, and rows of removed jobs are left.")
        }
        let problems = try await device.store.integrityProblems()
        guard problems.isEmpty else { throw Violation("R4", "\(device) is unsound: \(problems)") }
        for (job, reference) in device.references.sorted(by: { $0.key < $1.key }) where reference.isRemoved {
            try await checkRemoval(of: job, on: device)
            count(.freedJob)
        }
    }

    /// A person took the very late changes that were listed: they stand in a job of their own, by whom and when they were
    /// written, and nothing else does; and just they are decided.
    func accepted(
        _ late: [QuarantinedChange], as commits: [Commit], by device: Holder, from job: JobID
    ) throws {
        let work = Set(late.flatMap { $0.change.work(in: $0.dot.replica) }.filter { $0.item != .job })
        let rescued = commits.filter { $0.job != job }
        for one in work where !device.references.contains(where: { $0.key != job && $0.value.work.contains(one) }) {
            throw Violation("R10", "\(one.deed) was late work that a person accepted, and it is lost.")
        }
        for commit in rescued {
            let written = try ChangeCodec.decodeAll(commit.segment.bytes).flatMap {
                $0.work(in: commit.segment.replica)
            }
            if let other = written.first(where: { $0.item != .job && !work.contains($0) }) {
                throw Violation("R10", "\(device) accepted \(other.deed), which nobody had named.")
            }
        }
    }

    /// Who accepts has the list in front of them: what they write of the new job itself comes after what they accept of it.
    func noteSeen(_ late: [Reference.Entry], in rescued: Set<JobID>) {
        let ofJob = late.filter { $0.change.item == .job }.flatMap(\.change.operations)
        for place in shownBefore.keys where place.work.item == .job && rescued.contains(place.job) {
            guard case .set(let field, _) = place.work.deed else { continue }
            for case .set(let accepted, let value, _) in ofJob where Text(accepted) == field {
                shownBefore[place]?.insert(Text(value))
            }
        }
    }

    /// Just what was named is decided, wherever it stands.
    func checkDecided(_ late: [QuarantinedChange], in commits: [Commit], of job: JobID) throws {
        var decided: [ChangeIdentity] = []
        for commit in commits where commit.job == job {
            for case .decide(let changes) in try ChangeCodec.decodeAll(commit.segment.bytes).flatMap(\.operations) {
                decided += changes
            }
        }
        let named = late.map { ChangeIdentity(of: $0.change, in: $0.dot.replica) }
        guard decided.sorted() == named.sorted() else {
            throw Violation("R10", "a person decided about \(late.count) late changes, and about others is decided.")
        }
    }
}

extension Dot {
    var brief: String { "\(replica.description.prefix(4)):\(sequence)" }
}
