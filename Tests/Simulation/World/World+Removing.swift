import CRDT
import Inventory
import Replication
import Storage

/// The end of jobs: who removes them, what is freed, what becomes of late work.
extension World {
    /// Something of this device's own is durable, and the mesh is about to hear of it.
    func committed(_ commit: Commit, by device: Device) async throws { try await committed([commit], by: device) }

    /// The same for what was made durable together.
    func committed(_ commits: [Commit], by device: Device) async throws {
        try await checker.wrote(commits, by: device, now: now)
        for commit in commits {
            if !jobs.contains(commit.job) { counters.count(.rescuedWork) }
            record("commit", device, commit.segment.head.digest)
            narrate?("\(now) device \(device.index) wrote \(commit.segment.story) in \(brief(commit.job))")
            // Other work may come between the commit and the mesh.
            let wait = Int64.random(in: 0...2_000, using: &device.generator)
            add(.committed(commit.job, commit.segment), after: wait, to: device)
            advanced(device, commit.job)
        }
        freeLater(device)
    }

    // MARK: Freeing

    /// As the daemon's housekeeping: a step at a time, so that nobody waits.
    func freeLater(_ device: Device) {
        guard device.isUp, !device.isFreeing, device.references.values.contains(where: \.isRemoved) else { return }
        device.isFreeing = true
        let wait = Int64.random(in: 100_000...4_000_000, using: &device.generator)
        add(.free, after: wait, to: device)
    }

    func free(by device: Device) async throws {
        do {
            let isMore = try await device.store.freeStep()
            if isMore {
                counters.count(.freed)
                return add(.free, after: Int64.random(in: 0...200_000, using: &device.generator), to: device)
            }
            device.isFreeing = false
            try await checker.checkFreed(on: device)
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            // A disk that is full now may have room later.
            add(.free, after: 5_000_000, to: device)
        }
    }

    // MARK: People

    func removeJob(_ job: JobID, by device: Device) async throws {
        guard canAct(device), !device[job].isEmpty, !device[job].isRemoved else { return }
        try await speak(as: device) { device, time in
            let removed = try await device.store.removeJob(job, now: time)
            self.counters.count(.jobRemoval)
            if self.checker.wentWithJob[job] != nil { self.counters.count(.removedTwice) }
            try await self.committed(removed.commit, by: device)
            try await self.told(removed.outcome, of: job, by: device)
            return []
        }
    }

    /// A person deals with some of the late work that the list shows, of any job.
    func decideLate(by device: Device, accepts: Bool) async throws {
        guard canAct(device) else { return }
        for job in device.jobs where device[job].isRemoved {
            let late = try await device.store.lateChanges(of: job)
            guard !late.isEmpty else { continue }
            counters.count(.lateWork)
            // Not always all of it: of what was shown, the very changes that are named.
            let isAll = isCalm || device.generator.oneIn(2)
            let named = late.filter { _ in isAll || device.generator.oneIn(2) }
            guard !named.isEmpty else { continue }
            try await decide(named, of: job, accepts: accepts, by: device)
        }
    }

    private func decide(_ named: [QuarantinedChange], of job: JobID, accepts: Bool, by device: Device) async throws {
        let dots = named.map(\.dot)
        let before = device[job]
        narrate?("\(now) device \(device.index) \(accepts ? "accepts" : "drops") \(dots.map(\.brief))")
        var commits: [Commit] = []
        let isDone = try await speak(as: device) { device, time in
            commits =
                accepts
                ? try await device.store.acceptLate(dots, of: job, now: time)
                : try await device.store.dropLate(dots, of: job, now: time).map { [$0] } ?? []
            return commits
        }
        guard isDone else { return }
        counters.count(.lateDecision)
        if accepts {
            try checker.accepted(named, as: commits, by: device, from: job, knowing: before)
        } else {
            checker.dropped(named)
            try checker.checkDecided(named, in: commits, of: job, knowing: before)
        }
    }

    func canAct(_ device: Device) -> Bool { device.isUp && device.wakesAt ?? 0 <= now }

    /// - Returns: false when the store refused.
    @discardableResult
    private func speak(
        as device: Device, _ body: (Device, ReceiveTime) async throws -> [Commit]
    ) async throws -> Bool {
        do {
            try await committed(body(device, device.stampTime(at: now)), by: device)
            return true
        } catch let error as StoreError {
            try checker.refused(error, by: device)
            counters.count(.refusedWrite)
            return false
        }
    }

    // MARK: Peers

    /// A peer, or the server, has told of a removal, without the journal in which it stands.
    @discardableResult
    func takeRemoval(_ removal: JobRemoval, of job: JobID, by device: Device) async throws -> Bool {
        let former = device[job]
        do {
            narrate?("\(now) device \(device.index) hears that \(brief(job)) is removed up to \(removal.heads.brief)")
            let outcome = try await device.store.takeRemoval(
                removal, of: job, now: device.receiveTime(at: now), using: &device.generator)
            if !former.isRemoved, !former.isEmpty { counters.count(.removedUnread) }
            device.references[job, default: Reference()].take(removal)
            try await checker.ended(job, knowing: former, on: device)
            try await noteRenewal(of: device)
            try await told(outcome, of: job, by: device)
            return true
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return false
        }
    }

    /// A job has ended here: the mesh tells everybody.
    func told(_ outcome: RemovalOutcome, of job: JobID, by device: Device) async throws {
        record("ended", device, outcome.vector.fingerprint)
        if let reissued = outcome.reissued {
            narrate?("\(now) device \(device.index) re-issues \(reissued.segment.story)")
            counters.count(.reissuedWithRemoval)
        }
        device.unseen[job] = nil
        advanced(device, job)
        freeLater(device)
        let elapsed = device.elapsedMilliseconds(at: now)
        try await perform(
            device.mesh.onJobRemoved(
                outcome.removal, of: job, vector: outcome.vector, replaced: outcome.replaced, now: elapsed), by: device)
    }
}
