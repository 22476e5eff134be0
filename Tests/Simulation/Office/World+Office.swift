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
            case .vector: return .vector(try await office.vector(of: job))
            case .journal(let place): return .journal(try await journal(from: place))
            case .upload(let segments): return try await take(segments)
            case .deliver(let request, let known): return try await decide(request, known: known)
            }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return .busy(milliseconds: nil)
        } catch is CodecError {
            return .refused(.other)
        }
    }

    private func journal(from place: Settlement.Place) async throws -> [JournalSegment] {
        guard place.replica != .channel else {
            return [try await office.store.channelRun(of: job, after: place.after, limit: 5).segment].compactMap(\.self)
        }
        let segment = try await office.store.segment(
            of: place.replica, job: job, from: place.after + 1, maximumBytes: 400)
        return [segment].compactMap(\.self)
    }

    // MARK: Journals

    private func take(_ segments: [JournalSegment]) async throws -> OfficeAnswer {
        for segment in segments {
            let outcome =
                segment.replica == .channel && office.isRecovering
                ? try await takeBack(segment)
                : try await office.store.upload(
                    segment, job: job, now: office.receiveTime(at: now), mayWrite: !office.isRecovering,
                    using: &office.generator)
            narrate?("\(now) the office gets \(segment.brief): \(outcome)")
            switch outcome {
            case .stored:
                counters.count(.uploaded)
                _ = try office.reference.append(segment)
                try await changedAtOffice()
            case .adopted:
                counters.count(.branchGivenUpAtOffice)
                try await checker.reloaded(office, hasGivenUpBranch: true, now: now)
                try await changedAtOffice()
            case .known: break
            case .gap(let head): return .refused(.gap(held: head.sequence))
            case .partsEarlier: return .refused(.forked(agreed: nil))
            case .staysHere(let agreed): return .refused(.forked(agreed: agreed))
            case .wouldAdopt: return .busy(milliseconds: nil)
            case .ownJournal: return .refused(.ownJournal)
            }
        }
        return .uploaded
    }

    private func takeBack(_ segment: JournalSegment) async throws -> UploadOutcome {
        switch try await office.store.takeBack(segment, job: job, now: office.receiveTime(at: now)) {
        case .stored:
            counters.count(.wordsTakenBack)
            return .stored
        case .duplicate: return .known
        case .gap(let head): return .gap(head)
        case .forked, .ownFuture: return .partsEarlier
        }
    }

    /// One look ahead is enough.
    private func lookAtDueOfOffice(at time: Int64) {
        if let planned = office.dueAt, planned <= time { return }
        office.dueAt = time
        events.add(.office(.due), at: time, device: 0, incarnation: 0)
    }

    private func changedAtOffice() async throws {
        lookAtDueOfOffice(at: now)
        try await checker.look(at: office, now: nil)
        guard !office.isRecovering, !office.isAccepting else { return }
        office.isAccepting = true
        events.add(.office(.accept), at: now + 500_000, device: 0, incarnation: 0)
    }

    func acceptHeld() async throws {
        office.isAccepting = false
        guard office.isUp, !office.isRecovering, !office.reference.heads.isEmpty else { return }
        do {
            if let commit = try await office.store.acceptHeld(job: job, now: office.receiveTime(at: now)) {
                try said(commit)
            }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
        }
    }

    func takeDueAtOffice() async throws {
        office.dueAt = nil
        guard office.isUp, !office.reference.heads.isEmpty else { return }
        do {
            let time = office.receiveTime(at: now)
            let due = try await office.store.applyDue(now: time)
            if !due.jobs.isEmpty { try await checker.look(at: office, now: now) }
            guard let next = due.nextDue else { return }
            let wait = min(max(next, time.milliseconds) - time.milliseconds + 1, 15 * 60 * 1_000)
            lookAtDueOfOffice(at: now + Int64(wait) * 1_000)
        } catch let error as StoreError where error.code == .diskFull {
            lookAtDueOfOffice(at: now + 60_000_000)
        }
    }

    // MARK: Requests

    private func decide(_ request: MutationRequest, known: UInt64) async throws -> OfficeAnswer {
        guard !office.isRecovering else { return .busy(milliseconds: nil) }
        let decision = try await office.store.decide(
            request, job: job, knowing: known, now: office.receiveTime(at: now)
        ) {
            Judgement(of: request, on: JobStanding(values: $0))
        }
        switch decision {
        // It says nothing more of the job, and waits for its people.
        case .behind: return .busy(milliseconds: nil)
        case .predecessorMissing(let token):
            counters.count(.predecessorMissing)
            return .predecessorMissing(token)
        case .tokenReused: throw Violation("R8", "the office takes \(request.token) for another request.")
        case .decided(let outcome, let commit):
            if let commit {
                counters.count(outcome.verdict == .rejected ? .rejectedRequest : .decidedRequest)
                try said(commit)
                try await checker.look(at: office, now: nil)
            } else {
                counters.count(.askedAgain)
            }
            let run = try await office.store.channelRun(of: job, after: known, limit: 1_000)
            return .decided(outcome, [run.segment].compactMap(\.self))
        }
    }

    private func said(_ commit: Commit) throws {
        narrate?("\(now) the office says \(commit.segment.story)")
        let added = try office.reference.append(commit.segment)
        checker.remember(added)
        try checker.checkChannel(of: office)
    }

    /// People at the office write something.
    func officeEntry() async throws {
        guard office.isUp, !office.isRecovering else { return }
        office.entries += 1
        let text = "entry \(office.entries)"
        let request = OpenJob(name: text, kind: .inventory).request(
            token: MutationToken.random(using: &office.generator), after: nil)
        do {
            let decision = try await office.store.decide(request, job: job, now: office.receiveTime(at: now)) { _ in
                .accept([PublishedValue(name: .jobName, value: text)])
            }
            if case .decided(_, let commit?) = decision { try said(commit) }
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
        case .backUp: office.backup = Office.Backup(contents: try office.store.copy(), reference: office.reference)
        case .setBack: try await setOfficeBack()
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
        try await checker.reloaded(office, now: now)
        try await acceptHeld()
        lookAtDueOfOffice(at: now)
    }

    /// Its people put the backup back and serve with `--recover`.
    private func setOfficeBack() async throws {
        guard office.isUp, let backup = office.backup else { return }
        counters.count(.officeSetBack)
        checker.restoring(office, to: backup.reference, others: devices)
        // What nobody had heard it says anew.
        checker.forkable.insert(.channel)
        office.life += 1
        office.reference = backup.reference
        try office.open(backup.contents)
        office.isRecovering = true
        try await checker.reloaded(office, now: now)
        events.add(.office(.lookWhetherRecovered), at: now + 5_000_000, device: 0, incarnation: 0)
    }

    /// Until every laptop, also one that is away, has brought what it knows.
    func lookWhetherRecovered() async throws {
        let known = devices.filter(\.hasJoined).map { $0.reference.head(of: .channel).sequence }.max() ?? 0
        guard office.isUp, known <= office.reference.head(of: .channel).sequence else {
            return events.add(.office(.lookWhetherRecovered), at: now + 5_000_000, device: 0, incarnation: 0)
        }
        office.isRecovering = false
        try await acceptHeld()
    }
}
