import CRDT
import Inventory
import Outbox
import Replication
import Storage

/// What the office does: the program around its store.
extension World {
    func answer(to call: OfficeCall) async throws -> OfficeAnswer {
        do {
            switch call.request {
            case .vector:
                return .vector(
                    try await office.vector(of: call.job),
                    office[call.job].isEmpty ? nil : try await office.store.removal(of: call.job))
            case .journal(let place): return .journal(try await journal(of: call.job, from: place))
            case .upload(let segments): return try await take(segments, of: call.job)
            case .end(let removal): return try await end(call.job, removal)
            case .deliver(let delivered): return try await decide(delivered)
            }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return .busy(milliseconds: nil)
        } catch is ChannelIsSilent {
            return .refused(.other)
        } catch is CodecError {
            return .refused(.other)
        }
    }

    private func journal(of job: JobID, from place: ServerSyncSession.Place) async throws -> [JournalSegment] {
        guard place.replica != .channel else {
            return [try await office.store.channelRun(of: job, after: place.after, limit: 5).segment].compactMap(\.self)
        }
        let segment = try await office.store.segment(
            of: place.replica, job: job, from: place.after + 1, maximumBytes: 400)
        return [segment].compactMap(\.self)
    }

    // MARK: Journals

    private func take(
        _ segments: [JournalSegment], of job: JobID
    ) async throws -> OfficeAnswer {
        for segment in segments {
            let outcome =
                segment.replica == .channel && office.isRecovering
                ? try await recover(segment, of: job)
                : try await office.store.upload(
                    segment, job: job, now: office.receiveTime(at: now),
                    mayWrite: !office.isRecovering && !office.isUnaware)
            narrate?("\(now) the office gets \(segment.brief) of \(brief(job)): \(outcome)")
            switch outcome {
            case .stored:
                counters.count(.uploaded)
                try await checker.stored(segment, of: job, by: office)
                try await changedAtOffice(job)
            case .adopted:
                counters.count(.branchGivenUpAtOffice)
                try await checker.reloaded(office)
                try await changedAtOffice(job)
            case .known: break
            case .gap(let head): return .refused(.gap(held: head.sequence))
            case .partsEarlier: return .refused(.forked(agreed: nil))
            case .staysHere(let agreed): return .refused(.forked(agreed: agreed))
            case .ownJournal: return .refused(.ownJournal)
            }
        }
        return .uploaded
    }

    private func recover(_ segment: JournalSegment, of job: JobID) async throws -> UploadOutcome {
        switch try await office.store.recover(segment, job: job, now: office.receiveTime(at: now)).result {
        case .stored:
            counters.count(.wordsTakenBack)
            return .stored
        case .duplicate: return .known
        case .gap(let head): return .gap(head)
        case .forked, .ownFuture, .malformed, .failed: return .partsEarlier
        }
    }

    private func changedAtOffice(_ job: JobID) async throws {
        freeLaterAtOffice()
        guard !office.isRecovering, office.isAccepting.insert(job).inserted else { return }
        events.add(.office(.accept(job)), at: now + 500_000, device: 0, incarnation: 0)
    }

    func acknowledge(_ job: JobID) async throws {
        office.isAccepting.remove(job)
        guard office.isUp, !office.isRecovering, !office.isUnaware, !office[job].isEmpty else { return }
        do {
            if let commit = try await office.store.acknowledgeHeld(job: job, now: office.receiveTime(at: now)) {
                try await said([commit])
            }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
        }
    }

    // MARK: The end of jobs

    private func end(_ job: JobID, _ removal: JobRemoval) async throws -> OfficeAnswer {
        let former = office[job]
        do {
            _ = try await office.store.takeRemoval(
                removal, of: job, now: office.receiveTime(at: now),
                mayWrite: !office.isRecovering && !office.isUnaware, using: &office.generator)
        } catch is ChannelIsSilent {
            return .notEnded
        }
        office.references[job, default: Reference()].take(removal)
        try await checker.ended(job, knowing: former, on: office)
        try await changedAtOffice(job)
        return .ended
    }

    private func freeLaterAtOffice() {
        guard office.isUp, !office.isFreeing, office.references.values.contains(where: \.isRemoved) else { return }
        office.isFreeing = true
        events.add(.office(.free), at: now + 2_000_000, device: 0, incarnation: 0)
    }

    func freeAtOffice() async throws {
        guard office.isUp else { return }
        do {
            if try await office.store.freeStep() {
                return events.add(.office(.free), at: now + 100_000, device: 0, incarnation: 0)
            }
            office.isFreeing = false
            try await checker.checkFreed(on: office)
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            events.add(.office(.free), at: now + 5_000_000, device: 0, incarnation: 0)
        }
    }

    // MARK: Requests

    private func decide(_ delivered: [DeliveredRequest]) async throws -> OfficeAnswer {
        // Now and then it stops before it has decided all.
        let most = delivered.count > 1 && office.generator.oneIn(5) ? delivered.count - 1 : delivered.count
        let decidable = delivered.prefix(most).prefix { one in
            !office.isRecovering
                && (!office.isUnaware || one.knownChannel > office[one.job].head(of: .channel).sequence)
        }
        guard !decidable.isEmpty else { return .busy(milliseconds: nil) }
        // What the items add up to by the reference, not by the store: a signature is for just that.
        var digests: [JobID: String] = [:]
        for one in decidable where one.request.kind == SignOff.name {
            digests[one.job] = try await digestAtOffice(of: one.job)
        }
        let decisions = try await office.store.decide(Array(decidable), now: office.receiveTime(at: now)) {
            [digests] one, published in
            MutationEvaluation(of: one.request, on: JobStanding(values: published, digest: digests[one.job]))
        }
        var decided: [(outcome: Outcome, job: JobID)] = []
        var commits: [Commit] = []
        for (one, decision) in zip(decidable, decisions) {
            switch decision {
            // It says nothing more of the job, and waits for its people.
            case .behind: counters.count(.foundBehind)
            case .predecessorMissing(let token):
                counters.count(.predecessorMissing)
                if decided.isEmpty { return .predecessorMissing(token) }
            case .tokenReused: throw Violation("R8", "the office takes \(one.request.token) for another request.")
            case .decided(_, .some) where office.isUnaware:
                throw Violation("R8", "the office decides by a state that is not the last, as who asks has shown it.")
            case .decided(let outcome, let commit):
                decided.append((outcome, one.job))
                guard let commit else {
                    counters.count(.askedAgain)
                    continue
                }
                counters.count(outcome.verdict == .rejected ? .rejectedRequest : .decidedRequest)
                if one.request.kind == SignOff.name {
                    try noteSignature(one.request, outcome, digests[one.job])
                }
                commits.append(commit)
            }
        }
        try await said(commits)
        guard !decided.isEmpty else { return .busy(milliseconds: nil) }
        if decided.count < delivered.count { counters.count(.decidedInPart) }
        return .decided(decided, try await channels(for: decidable.prefix(decided.count)))
    }

    /// What who has sent them does not hold of the channels.
    private func channels(
        for delivered: ArraySlice<DeliveredRequest>
    ) async throws -> [(segment: JournalSegment, job: JobID)] {
        var runs: [(segment: JournalSegment, job: JobID)] = []
        for job in Set(delivered.map(\.job)).sorted() {
            let known = delivered.first { $0.job == job }?.knownChannel ?? 0
            let run = try await office.store.channelRun(of: job, after: known, limit: 1_000)
            if let segment = run.segment { runs.append((segment, job)) }
        }
        return runs
    }

    private func digestAtOffice(of job: JobID) async throws -> String? {
        guard !office[job].isEmpty else { return nil }
        let digest = try await office.store.digest(of: job).text
        guard digest == SlowDigest.hexadecimal(try await checker.export(of: office, job)) else {
            throw Violation("R3", "the office gives another digest than that of its export.")
        }
        return digest
    }

    /// What a customer signed for is told from what the office has.
    private func noteSignature(_ request: MutationRequest, _ outcome: Outcome, _ digest: String?) throws {
        guard outcome.verdict == .accepted, let payload = FlatJSON(parsing: request.payload) else { return }
        counters.count(payload["digest"] == digest ? .signed : .signedForOtherItems)
    }

    /// Those of one transaction: of each job the store has all of them when the first is looked at.
    private func said(_ commits: [Commit]) async throws {
        for job in Set(commits.map(\.job)).sorted() {
            let segments = commits.filter { $0.job == job }.map(\.segment)
            try await said(
                JournalSegment(
                    replica: .channel, first: segments[0].first, head: segments[segments.count - 1].head,
                    bytes: segments.flatMap(\.bytes)), of: job)
        }
    }

    private func said(_ segment: JournalSegment, of job: JobID) async throws {
        narrate?("\(now) the office says \(segment.story) of \(brief(job))")
        try await checker.stored(segment, of: job, by: office)
        checker.remember(office[job].journals[.channel] ?? [])
        try checker.checkChannel(of: office, job)
    }

    /// People at the office write something.
    func officeEntry() async throws {
        guard office.isUp, !office.isRecovering, !office.isUnaware,
            let job = jobs.randomElement(using: &office.generator)
        else { return }
        office.entries += 1
        let text = "entry \(office.entries)"
        let request = OpenJob(name: text, kind: .inventory).request(
            token: MutationToken.random(using: &office.generator), after: nil)
        do {
            let decisions = try await office.store.decide(
                [DeliveredRequest(request: request, job: job)], now: office.receiveTime(at: now)
            ) { _, _ in .accept([PublishedValue(name: .jobName, value: text)]) }
            if case .decided(_, let commit?) = decisions.first { try await said([commit]) }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
        }
    }

    // MARK: Power

    func take(_ action: OfficeAction) async throws {
        switch action {
        case .stop:
            guard office.isUp else { return }
            counters.count(.officeCrash)
            office.isUp = false
            events.add(.office(.start), at: now + 5_000_000, device: 0, incarnation: 0)
        case .backUp: office.backup = Office.Backup(contents: try office.store.copy(), references: office.references)
        case .setBack: try await setOfficeBack()
        case .setBackUnawares: try await setOfficeBackUnawares()
        case .fallIll:
            counters.count(.officeIllness)
            office.illUntil = now + 30_000_000
        case .fillDisk, .freeDisk: fillDiskOfOffice(action == .fillDisk)
        }
    }

    func fillDiskOfOffice(_ isFull: Bool) {
        if isFull { counters.count(.fullDisk) }
        office.isDiskFull = isFull
        office.store.setDiskFull(isFull)
    }

    func startOffice() async throws {
        guard !office.isUp else { return }
        try office.open(office.store.copy())
        office.isUp = true
        try await checker.reloaded(office)
        for job in office.jobs { try await acknowledge(job) }
        freeLaterAtOffice()
    }

    /// Its people put the backup back and serve with `--recover`.
    private func setOfficeBack() async throws {
        guard office.isUp, office.backup != nil else { return }
        office.isUnaware = false
        try await putBack()
        office.isRecovering = true
        events.add(.office(.lookWhetherRecovered), at: now + 5_000_000, device: 0, incarnation: 0)
    }

    /// Nobody has told it to recover: it serves on, and its people notice in the end and put the backup back once more.
    private func setOfficeBackUnawares() async throws {
        guard office.isUp, !office.isRecovering, office.backup != nil else { return }
        try await putBack()
        office.isUnaware = true
        events.add(.office(.lookWhetherRecovered), at: now + 40_000_000, device: 0, incarnation: 0)
    }

    /// Whether a laptop holds more of the channel than the office, which then must not go on.
    private func isOfficeBehind(_ job: JobID) -> Bool {
        devices.contains { $0[job].head(of: .channel).sequence > office[job].head(of: .channel).sequence }
    }

    private func putBack() async throws {
        guard let backup = office.backup else { return }
        counters.count(.officeSetBack)
        checker.restoring(office, to: backup.references, others: devices)
        // What nobody had heard it says anew.
        checker.forkable.insert(.channel)
        office.life += 1
        office.references = backup.references
        try office.open(backup.contents)
        try await checker.reloaded(office)
        freeLaterAtOffice()
    }

    /// Until every laptop, also one that is away, has brought what it knows.
    func lookWhetherRecovered() async throws {
        if office.isUnaware {
            office.isUnaware = false
            office.isRecovering = true
        }
        guard office.isUp, !Set(jobs).union(devices.flatMap(\.jobs)).contains(where: isOfficeBehind) else {
            return events.add(.office(.lookWhetherRecovered), at: now + 5_000_000, device: 0, incarnation: 0)
        }
        office.isRecovering = false
        for job in office.jobs { try await acknowledge(job) }
    }
}
