import CRDT
import Outbox
import Simulation

/// Between the machine and the server: directives carried out, exchanges that go wrong.
extension OutboxWorld {
    /// One stimulus, what follows from it, and the checks.
    mutating func drive(
        _ device: Int,
        _ stimulus: (inout OutboxMachine, UInt64, inout SeededGenerator) -> [OutboxMachine.Directive]
    ) {
        let elapsed = devices[device].elapsed(now)
        let directives = stimulus(&devices[device].machine, elapsed, &generator)
        for directive in directives { carryOut(directive, on: device) }
        check(device, after: directives)
        if let due = devices[device].machine.nextDeadline {
            let time = max(due, elapsed + 1) - elapsed
            if devices[device].timerAt.map({ $0 > now + time || $0 <= now }) ?? true {
                devices[device].timerAt = now + time
                schedule(.timer, after: time, device: device)
            }
        }
    }

    private mutating func carryOut(_ directive: OutboxMachine.Directive, on device: Int) {
        switch directive {
        case .begin(let begun, let records):
            for record in records { devices[device].leaveUnwritten(record.token) }
            devices[device].unwritten[begun] = records
            schedule(.written(begun), within: 20, device: device)
            if hasFaults, generator.oneIn(30) { schedule(.restart, within: 20, device: device) }
        case .write(let write): carryOut(write, on: device)
        case .send(let entries, let exchange): send(Sent(exchange: exchange, entries: entries), from: device)
        case .cancel(let exchange): devices[device].underWay[exchange] = nil
        case .bringJournal(let job, let author):
            schedule(.journalBrought(job, author), within: 2_000, device: device)
        case .withdraw(let job, let token):
            schedule(.withdrawalWritten(job, token), within: 20, device: device)
        case .tell(let notice):
            if case .rejected(let entry, _) = notice { devices[device].told.insert(entry.token) }
        }
    }

    /// What nobody waits for is written in the order in which it was said, as if at once.
    private mutating func carryOut(_ write: OutboxMachine.Write, on device: Int) {
        switch write {
        case .records(let records):
            for record in records {
                devices[device].leaveUnwritten(record.token)
                devices[device].records[record.token] = record
            }
        case .forget(let token):
            devices[device].leaveUnwritten(token)
            devices[device].records[token] = nil
        case .standing(let standing): devices[device].standing = standing
        case .attempt(let event):
            if event.durationMilliseconds > OutboxDeadlines.longest { violations.append("an attempt of \(event)") }
        }
    }

    private mutating func send(_ sent: Sent, from device: Int) {
        checkSending(sent, from: device)
        for entry in sent.entries where !devices[device].tried.insert(entry.token).inserted { count(.sameTokenAgain) }
        if sent.entries.count > 1 { count(.together) }
        if sent.entries.count >= 8 { count(.manyTogether) }
        devices[device].underWay[sent.exchange] = sent.entries.map(\.token)
        if trouble == .unreachable {
            count(.unreachable)
            return reply(sent, .unreachable(reason: "no connection"), on: device, within: 50)
        }
        if hasFaults, generator.oneIn(12) {
            count(.requestLost)
            return reply(sent, .answerLost(reason: "reset"), on: device, within: 3_000)
        }
        schedule(.arrive(sent), within: 1_500, device: device, outlives: true)
        if hasFaults, generator.oneIn(8) {
            count(.duplicate)
            schedule(.arrive(sent), within: 30_000, device: device, outlives: true)
        }
    }

    mutating func arrive(_ sent: Sent, from device: Int) {
        if trouble != .well, trouble != .unreachable, sent.entries.count > 1 { count(.failedTogether) }
        switch trouble {
        case .busy:
            count(.busy)
            let wish: UInt64? = generator.oneIn(3) ? nil : UInt64.random(in: 1_000...120_000, using: &generator)
            let code = generator.oneIn(2) ? 429 : 503
            return reply(
                sent, .serverBusy(status: code, retryAfterMilliseconds: wish), on: device, within: 500)
        case .broken:
            count(.broken)
            return reply(sent, .tryAgain(status: 500, reason: "broken"), on: device, within: 500)
        case .unauthorised:
            count(.unauthorised)
            return reply(sent, .unauthorised, on: device, within: 500)
        case .well, .unreachable: break
        }
        let told = decide(sent, from: device)
        if hasFaults, generator.oneIn(6) {
            if generator.oneIn(2) { return count(.silence) }
            count(.replyLost)
            return reply(sent, .answerLost(reason: "reset"), on: device, within: 2_000)
        }
        reply(sent, told, on: device, within: generator.oneIn(10) ? 50_000 : 1_500)
    }

    /// One after the other, up to the first that it cannot decide; now and then it stops before.
    private mutating func decide(_ sent: Sent, from device: Int) -> OutboxMachine.Reply {
        var outcomes: [Outcome] = []
        for entry in sent.entries {
            if hasFaults, !outcomes.isEmpty, generator.oneIn(10) { break }
            let isNew = server.outcomes[entry.token] == nil
            switch server.deliver(entry.request, job: entry.job) {
            case .predecessorMissing(let token):
                count(.predecessorMissing)
                if outcomes.isEmpty { return .predecessorMissing(token) }
                count(.answeredInPart)
                return .decided(outcomes)
            case .outcome(let outcome):
                if isNew, entry.author != devices[device].replica { count(.byAnotherGateway) }
                if outcome.verdict == .rejected { count(.rejected) }
                outcomes.append(outcome)
            }
        }
        if outcomes.count < sent.entries.count { count(.answeredInPart) }
        return .decided(outcomes)
    }

    private mutating func reply(_ sent: Sent, _ reply: OutboxMachine.Reply, on device: Int, within: UInt64) {
        schedule(.reply(sent, reply), within: within, device: device)
    }

    mutating func receive(_ sent: Sent, _ reply: OutboxMachine.Reply, on device: Int) {
        // The new entries of the channels come with the reply, most of the time, before it or after it.
        var isAnswer = false
        if case .decided = reply { isAnswer = true }
        if case .predecessorMissing = reply { isAnswer = true }
        let brings = isAnswer && !generator.oneIn(4)
        let isFirst = generator.oneIn(2)
        let jobs = Set(sent.entries.map(\.job)).sorted()
        if brings, isFirst { for job in jobs { take(job, upTo: server.channels[job]?.count ?? 0, on: device) } }
        if devices[device].underWay.removeValue(forKey: sent.exchange) != nil {
            if case .serverBusy(_, let wish) = reply {
                devices[device].quietUntil = max(devices[device].quietUntil, now + (wish ?? 0))
            }
        } else {
            count(.lateAnswer)
        }
        drive(device) { machine, now, generator in
            machine.onReply(sent.exchange, reply, now: now, using: &generator)
        }
        if brings, !isFirst { for job in jobs { take(job, upTo: server.channels[job]?.count ?? 0, on: device) } }
    }

    mutating func bringJournal(_ job: JobID, _ author: ReplicaID, from device: Int) {
        guard trouble == .well, devices[device].isRouteUp, !(hasFaults && generator.oneIn(4)) else { return }
        count(.journalBrought)
        for token in devices[device].withdrawn.sorted() where asked[token]?.author == author {
            if asked[token]?.job == job { server.withdraw(token, job: job) }
        }
        drive(device) { machine, now, generator in
            machine.onJournalBrought(job, author, now: now, using: &generator)
        }
    }
}

enum OutboxDeadlines {
    static let longest = RetryPolicy.standard.attemptDeadline
}
