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
        case .persist(let record, let begins):
            // What nobody waits for is written in the order in which it was said, as if at once.
            devices[device].unwritten[record.token] = begins ? record : nil
            if begins {
                schedule(.written(record.token, attempt: record.attempts), within: 20, device: device)
                if hasFaults, generator.oneIn(30) { schedule(.restart, within: 20, device: device) }
            } else {
                devices[device].records[record.token] = record
            }
        case .forget(let token):
            devices[device].unwritten[token] = nil
            devices[device].records[token] = nil
        case .remember(let standing): devices[device].standing = standing
        case .send(let entry, let attempt): send(entry, attempt: attempt, from: device)
        case .cancel(let token, _): devices[device].underWay[token] = nil
        case .bringJournal(let job, let author):
            schedule(.journalBrought(job, author), within: 2_000, device: device)
        case .withdraw(let job, let token):
            schedule(.withdrawalWritten(job, token), within: 20, device: device)
        case .log(let event):
            if event.durationMilliseconds > OutboxDeadlines.longest { violations.append("an attempt of \(event)") }
        case .tell(let notice):
            if case .rejected(let entry, _) = notice { devices[device].told.insert(entry.token) }
        }
    }

    private mutating func send(_ entry: OutboxEntry, attempt: Int, from device: Int) {
        checkSending(entry, attempt: attempt, from: device)
        if !devices[device].tried.insert(entry.token).inserted { count(.sameTokenAgain) }
        devices[device].underWay[entry.token] = attempt
        if trouble == .unreachable {
            count(.unreachable)
            return reply(entry, attempt, .unreachable(reason: "no connection"), nil, on: device, within: 50)
        }
        if hasFaults, generator.oneIn(12) {
            count(.requestLost)
            return reply(entry, attempt, .answerLost(reason: "reset"), nil, on: device, within: 3_000)
        }
        schedule(.arrive(entry, attempt: attempt), within: 1_500, device: device, outlives: true)
        if hasFaults, generator.oneIn(8) {
            count(.duplicate)
            schedule(.arrive(entry, attempt: attempt), within: 30_000, device: device, outlives: true)
        }
    }

    mutating func arrive(_ entry: OutboxEntry, attempt: Int, from device: Int) {
        switch trouble {
        case .busy:
            count(.busy)
            let wish: UInt64? = generator.oneIn(3) ? nil : UInt64.random(in: 1_000...120_000, using: &generator)
            let code = generator.oneIn(2) ? 429 : 503
            return reply(
                entry, attempt, .serverBusy(status: code, retryAfterMilliseconds: wish), nil, on: device, within: 500)
        case .broken:
            count(.broken)
            return reply(entry, attempt, .tryAgain(status: 500, reason: "broken"), nil, on: device, within: 500)
        case .unauthorised:
            count(.unauthorised)
            return reply(entry, attempt, .unauthorised, nil, on: device, within: 500)
        case .well, .unreachable: break
        }
        let isNew = server.outcomes[entry.token] == nil
        let answer = server.deliver(entry.request, job: entry.job)
        if isNew, server.outcomes[entry.token] != nil, entry.author != devices[device].replica {
            count(.byAnotherGateway)
        }
        let told: OutboxMachine.Reply
        switch answer {
        case .predecessorMissing(let token):
            count(.predecessorMissing)
            told = .predecessorMissing(token)
        case .outcome(let outcome):
            if outcome.verdict == .rejected { count(.rejected) }
            // Withdrawn is an answer, too: nothing of it is left to do.
            told = outcome.verdict == .accepted ? .accepted : .rejected(reason: outcome.reason)
        }
        if hasFaults, generator.oneIn(6) {
            if generator.oneIn(2) { return count(.silence) }
            count(.replyLost)
            return reply(entry, attempt, .answerLost(reason: "reset"), nil, on: device, within: 2_000)
        }
        reply(entry, attempt, told, answer, on: device, within: generator.oneIn(10) ? 50_000 : 1_500)
    }

    private mutating func reply(
        _ entry: OutboxEntry, _ attempt: Int, _ reply: OutboxMachine.Reply, _ answer: ModelServer.Answer?,
        on device: Int, within: UInt64
    ) {
        schedule(.reply(entry.token, attempt: attempt, reply, answer), within: within, device: device)
    }

    mutating func receive(
        _ token: MutationToken, attempt: Int, _ reply: OutboxMachine.Reply, _ answer: ModelServer.Answer?,
        on device: Int
    ) {
        // The new entries of the channel come with the reply, most of the time, before it or after it.
        let brings = answer != nil && !generator.oneIn(4)
        let isFirst = generator.oneIn(2)
        let job = asked[token]?.job
        if brings, isFirst, let job { take(job, upTo: server.channels[job]?.count ?? 0, on: device) }
        if devices[device].underWay[token] == attempt {
            devices[device].underWay[token] = nil
            if case .serverBusy(_, let wish) = reply {
                devices[device].quietUntil = max(devices[device].quietUntil, now + (wish ?? 0))
            }
        } else {
            count(.lateAnswer)
        }
        drive(device) { machine, now, generator in
            machine.onReply(token, attempt: attempt, reply, now: now, using: &generator)
        }
        if brings, !isFirst, let job { take(job, upTo: server.channels[job]?.count ?? 0, on: device) }
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
