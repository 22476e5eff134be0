import CRDT
import Inventory
import Storage

/// What is said about the job as a whole: what is held, what is forgotten, who is lost, what becomes of late work.
extension World {
    /// Something of this device's own is durable, and the mesh is about to hear of it.
    func committed(_ commit: Commit, after known: JournalHead, by device: Device) async throws {
        guard commit.job == job else {
            counters.count(.rescuedWork)
            device.rescued[commit.job, default: [:]][commit.segment.replica] = commit.segment.head
            return add(.committed(commit.job, commit.segment), after: 0, to: device)
        }
        try await checker.wrote(commit, after: known, by: device, among: devices, now: now)
        record("commit", device, commit.segment.head.digest)
        narrate?("\(now) device \(device.index) wrote \(commit.segment.story)")
        // Other work may come between the commit and the mesh.
        let wait = Int64.random(in: 0...2_000, using: &device.generator)
        add(.committed(job, commit.segment), after: wait, to: device)
        if commit.hasFold { counters.count(.folded) }
        advanced(device)
        retireLater(device)
    }

    /// As the daemon's housekeeping: when the job has been quiet for a while.
    func retireLater(_ device: Device) {
        guard device.isUp, !device.isRetiring else { return }
        device.isRetiring = true
        add(.retire, after: 2_000_000, to: device)
    }

    func retire(by device: Device) async throws {
        device.isRetiring = false
        guard !device.reference.heads.isEmpty else { return }
        let isDone = try await speak(as: device) { device, time in
            try await device.store.retire(job: self.job, now: time).map { [$0] } ?? []
        }
        // A disk that is full now may have room later.
        if !isDone { retireLater(device) }
    }

    func expel(_ replica: ReplicaID, by device: Device) async throws {
        guard device.isUp, device.wakesAt ?? 0 <= now, replica != device.store.identity.replica,
            device.reference.heads[replica] != nil
        else { return }
        try await speak(as: device) { device, time in
            let commit = try await device.store.expel(replica, job: self.job, now: time)
            self.counters.count(.expulsion)
            return [commit]
        }
    }

    func removeJob(by device: Device) async throws {
        guard device.isUp, device.wakesAt ?? 0 <= now, !device.reference.heads.isEmpty else { return }
        try await speak(as: device) { device, time in
            let commit = try await device.store.removeJob(self.job, now: time)
            self.counters.count(.jobRemoval)
            return [commit]
        }
    }

    func decideLate(by device: Device, accepts: Bool) async throws {
        guard device.isUp, device.wakesAt ?? 0 <= now, !device.reference.heads.isEmpty else { return }
        let late = try await device.store.lateChanges(of: job)
        if !late.isEmpty { counters.count(.lateWork) }
        guard let last = late.last(where: { $0.dot.replica == late.first?.dot.replica }) else { return }
        try await speak(as: device) { device, time in
            self.counters.count(.lateDecision)
            let (replica, sequence) = (last.dot.replica, last.dot.sequence)
            if accepts {
                let commits = try await device.store.acceptLate(
                    replica: replica, upTo: sequence, job: self.job, now: time)
                try self.checker.accepted(late.filter { $0.dot.replica == replica }.map(\.change), as: commits)
                return commits
            }
            self.checker.dropped(late.filter { $0.dot.replica == replica }.map(\.change))
            return try await device.store.dropLate(
                replica: replica, upTo: sequence, job: self.job, now: time
            ).map { [$0] } ?? []
        }
    }

    /// - Returns: false when the store refused.
    @discardableResult
    private func speak(
        as device: Device, _ body: (Device, ReceiveTime) async throws -> [Commit]
    ) async throws -> Bool {
        do {
            let known = device.reference.head(of: device.store.identity.replica)
            for commit in try await body(device, device.stampTime(at: now)) {
                try await committed(commit, after: known, by: device)
            }
            return true
        } catch let error as StoreError {
            // Somebody else was quicker.
            if error.code == .notOnRoster { return true }
            try checker.refused(error, by: device)
            counters.count(.refusedWrite)
            return false
        }
    }
}

extension Commit {
    fileprivate var hasFold: Bool {
        (try? ChangeCodec.decodeAll(segment.bytes))?.contains { change in
            change.operations.contains { if case .fold = $0 { true } else { false } }
        } ?? false
    }
}

extension Device {
    /// What the store holds of jobs that came of late work, after it was opened or a journal was rewritten.
    func readRescued(except job: JobID) async throws {
        rescued = [:]
        for (other, vector) in try await store.vectors() where other != job {
            rescued[other] = Dictionary(uniqueKeysWithValues: vector.entries.map { ($0.replica, $0.head) })
        }
    }
}
