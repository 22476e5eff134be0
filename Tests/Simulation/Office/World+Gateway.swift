import CRDT
import Outbox
import Replication
import Storage
import Timekeeping

/// A laptop with a way to the office settles the jobs with it, for all: carries out what a `ServerSyncSession` says.
extension World {
    /// As much as a person waits: what hangs is given up, and begun anew with the next poll.
    private static let longestRound: Int64 = 90_000_000

    /// Every job that either side has.
    func synchronise(by device: Device) async throws {
        for job in Set(device.jobs).union(office.jobs).union(jobs).sorted() { try await synchronise(job, by: device) }
    }

    func synchronise(_ job: JobID, by device: Device, only: ReplicaID? = nil) async throws {
        if only == nil {
            for (number, round) in device.rounds where round.only == nil && round.job == job {
                guard now > round.began + Self.longestRound else { return }
                device.rounds[number] = nil
            }
        }
        device.roundCount += 1
        if hasGateways { counters.count(.gateway) }
        let session = ServerSyncSession(only: only)
        device.rounds[device.roundCount] = Device.Round(job: job, session: session, only: only, began: now)
        try await carryOut(session.begin(), inRound: device.roundCount, by: device)
    }

    func answered(_ answer: OfficeAnswer, inRound number: Int, by device: Device) async throws {
        guard var round = device.rounds[number] else { return }
        let directive: ServerSyncSession.Directive
        switch answer {
        case .vector(let vector, let removal):
            directive = round.session.onVectors(
                here: round.here, server: JobHoldings(vector: vector, removal: removal))
        case .ended, .notEnded:
            let isDone = if case .ended = answer { true } else { false }
            directive = round.session.onRemoval(isDone)
        case .journal(let segments): directive = round.session.onFetched(segments)
        case .uploaded: directive = round.session.onUploaded()
        case .refused(let refusal): directive = round.session.onRefused(refusal)
        case .busy, .unreachable, .lost, .decided, .predecessorMissing: return try await end(number, by: device)
        }
        device.rounds[number] = round
        if answer.isReached { try await serverReached(by: device) }
        try await carryOut(directive, inRound: number, by: device)
    }

    private func carryOut(
        _ first: ServerSyncSession.Directive, inRound number: Int, by device: Device
    ) async throws {
        var directive = first
        while var round = device.rounds[number] {
            let job = round.job
            switch directive {
            case .compare:
                device.rounds[number]?.here = JobHoldings(
                    vector: device.mesh.vector(of: job), removal: device.mesh.removal(of: job))
                return ask(.vector, about: job, for: .round(number), by: device)
            case .fetch(let place), .fetchBranch(let place):
                return ask(.journal(place), about: job, for: .round(number), by: device)
            case .upload(let segments):
                for segment in segments { try checker.showed(segment, of: job, by: device) }
                return ask(.upload(segments), about: job, for: .round(number), by: device)
            case .takeRemoval(let removal):
                let isDone = try await takeRemoval(removal, of: job, by: device)
                directive = round.session.onRemoval(isDone)
            case .bringRemoval(let removal): return ask(.end(removal), about: job, for: .round(number), by: device)
            case .take(let segment):
                directive = round.session.onTaken(try await take(segment, of: job, by: device))
            case .expose: directive = round.session.onExposed(try await exposeToOffice(device))
            case .load(let place):
                directive = round.session.onLoaded(try await runs(from: place, of: job, by: device))
            case .giveWay(let branch, let agreed):
                counters.count(.gaveWayToOffice)
                try await adopt(branch, of: job, after: agreed, by: device)
                directive = round.session.onGaveWay()
            case .finished: return try await end(number, by: device)
            }
            device.rounds[number]?.session = round.session
        }
    }

    private func end(_ number: Int, by device: Device) async throws {
        guard let round = device.rounds.removeValue(forKey: number), let author = round.only else { return }
        try await drive(device) { machine, now, generator in
            machine.onJournalBrought(round.job, author, now: now, using: &generator)
        }
    }

    func take(_ segment: JournalSegment, of job: JobID, by device: Device) async throws -> IngestResult {
        do {
            let ingested = try await device.store.ingest(segment, job: job, now: device.receiveTime(at: now))
            switch (ingested.result, ingested.ended) {
            case (.stored, nil):
                narrate?("\(now) device \(device.index) gets \(segment.brief) of \(brief(job)) from the office")
                try await checker.stored(segment, of: job, by: device)
                add(.committed(job, segment), after: 0, to: device)
                advanced(device, job)
                freeLater(device)
            case (.stored, let ended?):
                try await checker.stored(segment, of: job, by: device)
                try await told(ended, of: job, by: device)
            case (.ownFuture(let name), _):
                try await renew(device, name, "The server has a later part of this store's journal.")
            case (.duplicate, _), (.gap, _), (.forked, _), (.malformed, _), (.failed, _): break
            }
            return ingested.result
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return .failed
        }
    }

    /// From now on the office may get what this device writes: only when the time is known (rule R5).
    private func exposeToOffice(_ device: Device) async throws -> Bool {
        guard plan.profile.faults.contains(.gateway), device.time.isSynchronised else { return false }
        guard !device.isExposedToOffice else { return true }
        do {
            _ = try await device.store.beginExposure()
            device.unseen = [:]
            device.isExposedToOffice = true
            return true
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return false
        }
    }

    /// Sometimes in small pieces.
    private func runs(from place: ServerSyncSession.Place, of job: JobID, by device: Device) async throws
        -> [JournalSegment]
    {
        var runs: [JournalSegment] = []
        var next = place.after + 1
        let bytes = office.generator.pick([60, 400, .max])
        while runs.count < 3,
            let run = try await device.store.segment(of: place.replica, job: job, from: next, maximumBytes: bytes)
        {
            runs.append(run)
            next = run.head.sequence + 1
        }
        return runs
    }
}

extension OfficeAnswer {
    fileprivate var isReached: Bool {
        switch self {
        case .vector, .journal, .uploaded, .refused, .decided, .predecessorMissing, .ended, .notEnded: true
        case .busy, .unreachable, .lost: false
        }
    }
}
