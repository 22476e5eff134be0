import CRDT
import Engine
import HTTPCoding
import Inventory
import LocalAPI
import Outbox
import Storage

/// What waits for the server.
extension InventoryService {
    func advance(_ request: AdvanceRequest, job text: String) async throws -> QueuedTokens {
        try await answering {
            guard let state = JobState(rawValue: request.state) else {
                let states = JobState.allCases.map(\.rawValue)
                let hint = NearestName.of(request.state, among: states).map { "did you mean '\($0)'?" }
                throw APIError(
                    .invalidValue,
                    "'\(request.state)' is no state of a job; \(hint ?? "give one of \(states.joined(separator: ", ")).")"
                )
            }
            return try await withJob(text) { job in
                if let token = try await alreadyAsked(for: state, of: job) {
                    return QueuedTokens(tokens: [token.description], isNew: false)
                }
                var generator = machine.generator
                var batch = MutationBatch(job: job)
                batch.openIfNeeded(using: &generator)
                batch.add(AdvanceState(to: state), using: &generator)
                return QueuedTokens(tokens: try await ask(batch).map(\.description))
            }
        }
    }

    /// The request behind which nothing else would change: it is this laptop's, and nothing that waits behind it asks for another
    /// state. Whoever repeats a command would have the office decide twice. What somebody else has asked for may be taken back, or
    /// may never be taken, and then nobody would have asked; it does not hide the own one either.
    ///
    /// Costs no look at the store where nothing like it waits.
    private func alreadyAsked(for state: JobState, of job: JobID) async throws -> MutationToken? {
        let equal = await outbox.queue.reversed()
            .filter { $0.entry.job == job && $0.entry.lane.name == AdvanceState.lane }
            .prefix { queued in
                let wanted = try? MutationKinds.all.mutation(of: queued.entry.request) as? AdvanceState
                return wanted?.state == state
            }
        let last = equal.first {
            $0.entry.isOwn && [.ready, .waiting, .sending, .behind, .paused].contains($0.state)
        }
        guard let last else { return nil }
        let stored = try await store.job(job)
        // Then it is refused as any other.
        guard !stored.isRemoved, membership(of: job) != .off else { return nil }
        try checkCondition(stored.tag, of: "The job '\(stored.name)'")
        return last.entry.token
    }

    /// Asks, on the mesh's own thread: see `tell`.
    func ask(_ batch: MutationBatch) async throws -> [MutationToken] {
        if !batch.createsJob { try checkThatItIsOn(batch.job) }
        var batch = batch
        batch.writer = writer(.job)
        return try await withTaskExecutorPreference(machine.executor) { [batch] in try await outbox.ask(batch).tokens }
    }

    /// - Throws: `APIError` for a job that this laptop is not on: the server, and whoever is on it, would not take what it says.
    func checkThatItIsOn(_ job: JobID) throws {
        guard membership(of: job) == .off else { return }
        throw APIError(
            .notPermitted,
            "This laptop is not on job \(job), so it neither asks for its state nor ends it; ask on one that is, or let a lead's or the "
                + "office's laptop put this one on it ('muster job assign').")
    }

    /// What the server has said of a job, and what it is shown as until it has answered.
    func overlay(of job: JobID) async throws -> Overlay {
        try await store.overlay(of: job, leavingOut: await outbox.notShown)
    }

    func shownState(of job: JobID) async throws -> ShownState {
        ShownState(try await overlay(of: job))
    }

    func queueStatus() async -> QueueStatus {
        let (own, standing) = (await outbox.ownCounts, await outbox.standing)
        var paused: [PausedJob] = []
        for job in Set(standing.pausedLanes.map(\.job)).sorted() {
            paused.append(PausedJob(job: job.text, jobName: try? await store.job(job).name))
        }
        return QueueStatus(
            pending: own.pending, paused: own.paused, rejected: own.rejected, isPaused: standing.isPaused,
            pausedJobs: paused)
    }

    func queue() async throws -> [QueueEntry] {
        try await answering {
            var names: [JobID: String] = [:]
            var entries: [QueueEntry] = []
            for queued in await outbox.queue {
                let job = queued.entry.job
                if names[job] == nil { names[job] = try? await store.job(job).name }
                entries.append(await describe(queued, jobName: names[job]))
            }
            return entries
        }
    }

    func queued(_ token: String) async throws -> QueueEntry {
        try await answering {
            if let queued = try await waiting(token) {
                return await describe(queued, jobName: try? await store.job(queued.entry.job).name)
            }
            return await describe(try await finished(token))
        }
    }

    func retry(_ token: String) async throws -> QueueEntry {
        try await answering {
            let named = try await find(token).entry.token
            try await outbox.retry(named)
            return try await self.queued(named.description)
        }
    }

    func drop(_ token: String) async throws -> QueueEntry {
        try await answering {
            let queued = try await find(token)
            try await outbox.drop(queued.entry.token, by: user)
            return await describe(queued, jobName: try? await store.job(queued.entry.job).name)
        }
    }

    func pause(_ request: LaneRequest) async throws -> QueueStatus {
        try await answering {
            let lanes = try await lanes(request)
            // Nothing of a removed job goes out any more. A pause of before can be ended.
            if let job = lanes.first??.job { _ = try await living(job.text) }
            for lane in lanes { try await outbox.pause(lane) }
            return await queueStatus()
        }
    }

    func resume(_ request: LaneRequest) async throws -> QueueStatus {
        try await answering {
            let lanes = try await lanes(request)
            if request.lane != nil, await outbox.standing.isPaused {
                throw APIError(
                    .invalidValue, "Everything of this laptop is paused; 'muster queue resume' without a job ends that."
                )
            }
            let before = await outbox.standing
            for lane in lanes { try await outbox.resume(lane) }
            var status = await queueStatus()
            status.wasPaused = lanes.contains { lane in
                guard let lane else { return before.isPaused || !before.pausedLanes.isEmpty }
                return before.pausedLanes.contains(lane)
            }
            return status
        }
    }

    /// What a person names: everything of this laptop (one nil), a job with all its lanes, or one of these as JOB/NAME.
    private func lanes(_ request: LaneRequest) async throws -> [LaneID?] {
        guard let text = request.lane else { return [nil] }
        let job: JobID
        do {
            job = try await resolve(job: text).id
        } catch let error as APIError where error.code == .unknownJob {
            // A job's name may have a slash in it.
            guard let slash = text.lastIndex(of: "/") else { throw error }
            let lanes = await lanes(of: try await resolve(job: String(text[..<slash])).id)
            guard let lane = lanes.first(where: { $0.name == text[text.index(after: slash)...] }) else { throw error }
            return [lane]
        }
        return await lanes(of: job)
    }

    /// Those of what this version can ask for, and of what is asked for.
    private func lanes(of job: JobID) async -> [LaneID] {
        let known = MutationKinds.all.types.map { LaneID(job: job, name: $0.lane) }
        let used = await outbox.queue.map(\.entry.lane).filter { $0.job == job }
        return Set(known + used).sorted()
    }

    private func describe(_ queued: QueuedMutation, jobName: String?) async -> QueueEntry {
        let (entry, record) = (queued.entry, queued.record)
        let name = try? await store.job(entry.job).properties.value(of: JobProperty.author(entry.author))
        let standing = await outbox.standing
        var next: UInt64?
        if queued.state == .waiting || queued.state == .ready {
            let rest = standing.rest?.wait.end ?? 0
            next = max(record.wait?.end ?? 0, rest)
            if next == 0 { next = nil }
        }
        var nextAttempt: Timestamp?
        if let next { nextAttempt = Timestamp(milliseconds: Int64(clamping: await outbox.wall(next))) }
        return QueueEntry(
            token: entry.token.description, lane: entry.lane.description, priority: Int(entry.request.priority),
            kind: entry.request.kind, job: entry.job.text, jobName: jobName,
            wish: MutationKinds.all.sentence(for: entry.request), isOwn: entry.isOwn, askedBy: name,
            state: QueueEntry.State(rawValue: queued.state.rawValue) ?? .waiting, attempts: record.attempts,
            nextAttemptAt: nextAttempt, lastError: record.lastError,
            createdAt: Timestamp(milliseconds: Int64(clamping: entry.created.milliseconds)))
    }
}

extension ShownState {
    init(_ overlay: Overlay) {
        let isPending = overlay.pending[.jobState] != nil
        self.init(
            published: overlay.published.state?.rawValue, pending: isPending ? overlay.shown.state?.rawValue : nil)
    }
}

extension APIError {
    init(_ refusal: OutboxRefusal) {
        let code: APIError.Code =
            switch refusal {
            case .unknown: .unknownMutation
            case .notOwn, .answered, .rejected: .mutationSettled
            }
        self.init(code, refusal.sentence)
    }
}
