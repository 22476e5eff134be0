import CRDT
import Inventory
import Outbox
import Replication
import Storage

/// Carries out what an outbox decides, as the daemon's driver of it does.
extension World {
    var hasGateways: Bool { plan.profile.faults.contains(.gateway) }

    /// Makes the outbox again from what is durable.
    func startOutbox(of device: Device) async throws {
        guard hasGateways else { return }
        let start = try await device.store.outboxStart()
        device.outbox = OutboxMachine(standing: start.standing)
        device.marks = start.marks
        let isUp = device.reachesServer
        try await drive(device) { machine, now, generator in
            machine.onStart(
                entries: start.entries, records: start.records, outcomes: start.outcomes,
                now: now, using: &generator) + machine.onRoute(isUp: isUp, now: now, using: &generator)
        }
    }

    /// A job has new transforms: some may be requests, or what became of them.
    func advanced(_ device: Device, _ job: JobID) {
        guard hasGateways, device.isUp, device.isLookingAtRequests.insert(job).inserted else { return }
        let wait = Int64.random(in: 0...3_000, using: &office.generator)
        add(.lookAtRequests(job), after: wait, to: device)
    }

    func lookAtRequests(of job: JobID, by device: Device) async throws {
        device.isLookingAtRequests.remove(job)
        guard !device[job].isEmpty else { return }
        let news = try await device.store.requestNews(of: job, since: device.marks[job] ?? [:])
        device.marks[job] = news.mark
        try await drive(device) { machine, now, generator in
            var directives: [OutboxMachine.Directive] = []
            for entry in news.entries { directives += machine.onRequest(entry, now: now, using: &generator) }
            for token in news.withdrawn { directives += machine.onWithdrawn(token, now: now, using: &generator) }
            for outcome in news.outcomes { directives += machine.onOutcome(outcome, now: now, using: &generator) }
            return directives
        }
    }

    func setRoute(of device: Device, isUp: Bool) async throws {
        device.reachesServer = isUp
        guard device.isUp else { return }
        try await drive(device) { machine, now, generator in
            machine.onRoute(isUp: isUp, now: now, using: &generator)
        }
    }

    func serverReached(by device: Device) async throws {
        try await drive(device) { machine, now, generator in machine.onServerReached(now: now, using: &generator) }
    }

    func drive(
        _ device: Device,
        _ body: (inout OutboxMachine, UInt64, inout SeededGenerator) throws -> [OutboxMachine.Directive]
    ) async throws {
        guard hasGateways else { return }
        let directives = try body(&device.outbox, device.elapsedMilliseconds(at: now), &office.generator)
        try await carryOut(directives, by: device)
        scheduleOutbox(of: device)
    }

    private func carryOut(_ directives: [OutboxMachine.Directive], by device: Device) async throws {
        let isDurable = try await remember(directives, on: device)
        for directive in directives {
            switch directive {
            case .persist(_, let begun):
                guard let exchange = begun else { continue }
                // A crash in between finds the attempts on the disk and nothing sent.
                let wait = Int64.random(in: 0...20_000, using: &office.generator)
                add(.outboxPersisted(exchange, isDurable: isDurable), after: wait, to: device)
            case .send(let entries, let exchange): send(entries, in: exchange, by: device)
            case .bringJournal(let job, let author):
                counters.count(.journalBrought)
                try await synchronise(job, by: device, only: author)
            case .withdraw(let job, let token):
                try await withdraw(Withdrawal(token: token, job: job), by: device)
            case .tell(.rejected(let entry, _)): device.told.insert(entry.token)
            case .cancel, .tell, .forget, .remember, .log: break
            }
        }
    }

    private func remember(_ directives: [OutboxMachine.Directive], on device: Device) async throws -> Bool {
        let writes = directives.flatMap { directive -> [OutboxWrite] in
            switch directive {
            case .persist(let records, _): records.map { .record($0) }
            case .forget(let token): [.forget(token)]
            case .remember(let standing): [.standing(standing)]
            default: []
            }
        }
        guard !writes.isEmpty else { return true }
        do {
            try await device.store.remember(writes)
            return true
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            return false
        }
    }

    func persisted(_ exchange: OutboxMachine.ExchangeNumber, isDurable: Bool, by device: Device) async throws {
        try await drive(device) { machine, now, generator in
            isDurable
                ? machine.onPersisted(exchange, now: now, using: &generator)
                : machine.onPersistFailed(exchange, now: now, using: &generator)
        }
    }

    private func send(_ entries: [OutboxEntry], in exchange: OutboxMachine.ExchangeNumber, by device: Device) {
        for entry in entries {
            narrate?("\(now) device \(device.index) delivers \(entry.request.kind) \(entry.token) in \(exchange)")
        }
        if entries.count > 1 { counters.count(.askedTogether) }
        let delivered = entries.map {
            let known = device.mesh.vector(of: $0.job)[.channel].sequence
            return DeliveredRequest(request: $0.request, job: $0.job, knownChannel: known)
        }
        ask(.deliver(delivered), about: entries[0].job, for: .delivery(exchange), by: device)
    }

    func delivered(
        in exchange: OutboxMachine.ExchangeNumber, _ answer: OfficeAnswer, by device: Device
    ) async throws {
        let reply: OutboxMachine.Reply
        var decided: [(outcome: Outcome, job: JobID)] = []
        var runs: [(segment: JournalSegment, job: JobID)] = []
        switch answer {
        case .decided(let outcomes, let channels):
            (decided, runs) = (outcomes, channels)
            reply = .decided(outcomes.map(\.outcome))
            let tokens = Set(outcomes.map(\.outcome.token))
            if device.outbox.queue.contains(where: { tokens.contains($0.entry.token) && !$0.entry.isOwn }) {
                counters.count(.byAnotherGateway)
            }
        case .predecessorMissing(let predecessor): reply = .predecessorMissing(predecessor)
        case .busy(let wish): reply = .serverBusy(status: 503, retryAfterMilliseconds: wish)
        case .unreachable: reply = .unreachable(reason: "no connection")
        case .lost: reply = .answerLost(reason: "the connection ended")
        case .vector, .journal, .uploaded, .refused, .ended, .notEnded: return
        }
        try await drive(device) { machine, now, generator in
            machine.onReply(exchange, reply, now: now, using: &generator)
        }
        for run in runs { _ = try await take(run.segment, of: run.job, by: device) }
        for one in decided where device.mesh.removal(of: one.job) != nil {
            try await drive(device) { machine, now, generator in
                machine.onOutcome(one.outcome, now: now, using: &generator)
            }
        }
    }

    private func scheduleOutbox(of device: Device) {
        guard device.isUp, let deadline = device.outbox.nextDeadline else { return }
        let time = device.clock.trueTime(atElapsed: Int64(clamping: deadline) * 1_000, now: now)
        if let timerAt = device.outboxTimerAt, timerAt <= time, timerAt > now { return }
        device.outboxTimerAt = time
        events.add(.outboxTimer, at: time, device: device.index, incarnation: device.incarnation)
    }

    // MARK: People

    func ask(about job: JobID, by device: Device) async throws {
        guard hasGateways, canAct(device) else { return }
        let notShown = device.outbox.notShown
        let isOpen = !device[job].isEmpty && !device[job].isRemoved
        let overlay = isOpen ? try await device.store.overlay(of: job, leavingOut: notShown) : nil
        var batch = MutationBatch(job: job)
        batch.createsJob = true
        if let state = overlay?.shown.state {
            // A cancelled job has no more story: people seldom do that.
            let next = state.next.filter { $0 != .cancelled || office.generator.oneIn(6) }
            guard let state = next.randomElement(using: &office.generator) else { return }
            batch.add(AdvanceState(to: state), using: &office.generator)
        } else {
            batch.add(OpenJob(name: "Smith", kind: .pickup), using: &office.generator)
        }
        try await enqueue(batch, leavingOut: notShown, by: device)
    }

    /// A customer signs for the items as this laptop shows them; or the paper says something else.
    func signOff(_ job: JobID, by device: Device, isForgery: Bool) async throws {
        guard hasGateways, canAct(device), !device[job].isEmpty, !device[job].isRemoved else { return }
        let digest =
            isForgery
            ? String(repeating: "0f", count: 32) : SlowDigest.hexadecimal(try await checker.export(of: device, job))
        counters.count(.signOff)
        var batch = MutationBatch(job: job)
        batch.add(SignOff(digest: digest, name: "J. \u{201C}Smith\u{201D}"), using: &office.generator)
        try await enqueue(batch, leavingOut: device.outbox.notShown, by: device)
    }

    private func enqueue(_ batch: MutationBatch, leavingOut notShown: Set<MutationToken>, by device: Device)
        async throws
    {
        do {
            let time = device.stampTime(at: now)
            let asked = try await device.store.enqueue(batch, leavingOut: notShown, now: { time })
            counters.count(.asked)
            try await committed(asked.commit, by: device)
            checker.asked(asked.commit.segment, of: batch.job)
        } catch let error as StoreError {
            try checker.refused(error, by: device)
            counters.count(.refusedWrite)
        } catch is MutationRefusal {
            // What is pending and not shown leaves no room for it.
        }
    }

    /// The oldest wish of this device that nobody has answered.
    func drop(by device: Device) async throws {
        guard hasGateways, canAct(device),
            let token = device.outbox.queue.first(where: { $0.entry.isOwn })?.entry.token
        else { return }
        do {
            try await drive(device) { machine, now, generator in
                try machine.onDrop(token, now: now, using: &generator)
            }
            counters.count(.dropped)
        } catch is OutboxRefusal {
            // Somebody was quicker.
        }
    }

    private func withdraw(_ withdrawal: Withdrawal, by device: Device) async throws {
        let token = withdrawal.token
        do {
            let time = device.stampTime(at: now)
            let commit = try await device.store.withdraw(withdrawal, now: { time })
            try await committed(commit, by: device)
            checker.withdrawn[commit.job, default: []].insert(token)
            try await drive(device) { machine, now, generator in
                machine.onWithdrawn(token, now: now, using: &generator)
            }
        } catch let error as StoreError {
            try checker.refused(error, by: device)
            counters.count(.refusedWrite)
            try await drive(device) { machine, now, generator in
                machine.onWithdrawFailed(token, now: now, using: &generator)
            }
        }
    }
}
