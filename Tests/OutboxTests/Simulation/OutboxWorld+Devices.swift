import CRDT
import Inventory
import Outbox
import Simulation

/// What the devices do: the shell around the machine.
extension OutboxWorld {
    private static let jobs = ["smith", "jones"].compactMap { JobID($0) }

    mutating func start(_ device: Int) {
        devices[device].machine = OutboxMachine(standing: devices[device].standing, kinds: .tested)
        devices[device].underWay = [:]
        devices[device].timerAt = nil
        let one = devices[device]
        let open = one.known.values.filter { entry in
            let outcome = one.published[entry.job]?.outcomes[entry.token]
            return !one.withdrawn.contains(entry.token) && (outcome == nil || one.records[entry.token] != nil)
        }
        let outcomes = open.compactMap { one.published[$0.job]?.outcomes[$0.token] }.sorted { $0.token < $1.token }
        let entries = open.sorted { $0.token < $1.token }
        let records = one.records.values.sorted { $0.token < $1.token }
        drive(device) { machine, now, generator in
            machine.onStart(entries: entries, records: records, outcomes: outcomes, now: now, using: &generator)
                + machine.onRoute(isUp: one.isRouteUp, now: now, using: &generator)
                + machine.onCredentials(now: now, using: &generator)
        }
    }

    mutating func restart(_ device: Int, isReboot: Bool) {
        count(isReboot ? .reboot : .restart)
        devices[device].incarnation += 1
        for exchange in devices[device].unwritten.keys.sorted() {
            if generator.oneIn(2) { write(exchange, on: device) } else { count(.recordLostToRestart) }
        }
        devices[device].unwritten = [:]
        if isReboot { devices[device].booted = now }
        start(device)
    }

    mutating func ask(_ device: Int) {
        let job = Self.jobs.randomElement(using: &generator) ?? Desk.job
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: ask(device, job, OpenJob(name: "Smith", kind: .pickup))
        case 1, 2: ask(device, job, AdvanceState(to: JobState.allCases.randomElement(using: &generator) ?? .cancelled))
        case 3: ask(device, job, Newest())
        case 4: ask(device, job, Loose())
        case 5: ask(device, job, Note("nonsense"))
        default: ask(device, job, Note("n", priority: UInt8.random(in: 0...255, using: &generator)))
        }
    }

    /// The request, its record and what it belongs to are one transaction.
    private mutating func ask(_ device: Int, _ job: JobID, _ mutation: some MutationKind) {
        let token = MutationToken(UInt128.random(in: 0...UInt128.max, using: &generator))
        let lane = "\(job) \(type(of: mutation).lane)"
        devices[device].sequence += 1
        let entry = OutboxEntry(
            request: mutation.request(token: token, after: devices[device].lastOfLane[lane]), job: job,
            author: devices[device].replica, sequence: devices[device].sequence,
            created: Stamp(milliseconds: now, counter: 0), isOwn: true)
        devices[device].lastOfLane[lane] = token
        devices[device].records[token] = OutboxRecord(token: token)
        asked[token] = entry
        askedOrder.append(token)
        learn(entry, on: device)
    }

    private mutating func learn(_ entry: OutboxEntry, on device: Int) {
        let known = OutboxEntry(
            request: entry.request, job: entry.job, author: entry.author, sequence: entry.sequence,
            created: entry.created, isOwn: entry.author == devices[device].replica)
        devices[device].known[entry.token] = known
        guard devices[device].published[entry.job]?.outcomes[entry.token] == nil else { return }
        drive(device) { machine, now, generator in machine.onRequest(known, now: now, using: &generator) }
    }

    /// Journals, withdrawals and the channel, from one device to another.
    mutating func gossip(from device: Int) {
        let peer = Int.random(in: 0..<devices.count, using: &generator)
        guard peer != device else { return }
        // A journal comes in its order, and maybe not all of it.
        for author in devices.indices {
            let name = devices[author].replica
            var mine: [OutboxEntry] = []
            for token in askedOrder {
                if let entry = devices[device].known[token], entry.author == name { mine.append(entry) }
            }
            let most = generator.oneIn(3) ? mine.count / 2 : mine.count
            for entry in mine.prefix(most) where devices[peer].known[entry.token] == nil { learn(entry, on: peer) }
        }
        for token in devices[device].withdrawn.sorted()
        where devices[peer].known[token] != nil && !devices[peer].withdrawn.contains(token) {
            devices[peer].withdrawn.insert(token)
            drive(peer) { machine, now, generator in machine.onWithdrawn(token, now: now, using: &generator) }
        }
        for job in Self.jobs { take(job, upTo: devices[device].published[job]?.length ?? 0, on: peer) }
    }

    mutating func poll(_ device: Int) {
        guard devices[device].isRouteUp, trouble == .well else { return }
        if !hasFaults {
            for token in devices[device].withdrawn.sorted() {
                if let job = asked[token]?.job { server.withdraw(token, job: job) }
            }
        }
        for job in Self.jobs { take(job, upTo: server.channels[job]?.count ?? 0, on: device) }
        drive(device) { machine, now, generator in machine.onServerReached(now: now, using: &generator) }
    }

    /// The channel is written first; the outbox hears of it afterwards, unless the daemon ends in between.
    func ingested(_ job: JobID, upTo length: Int, on device: Int) -> [Outcome] {
        let held = devices[device].published[job]?.length ?? 0
        guard let channel = server.channels[job], held < length else { return [] }
        return channel[held..<length].compactMap(\.outcome)
    }

    mutating func take(_ job: JobID, upTo length: Int, on device: Int) {
        let outcomes = ingested(job, upTo: length, on: device)
        var held = devices[device].published[job] ?? PublishedJob()
        for entry in server.channels[job]?.prefix(length).dropFirst(held.length) ?? [] { held.take(entry) }
        devices[device].published[job] = held
        if hasFaults, !outcomes.isEmpty, generator.oneIn(40) { return restart(device, isReboot: false) }
        for outcome in outcomes {
            if asked[outcome.token]?.author == devices[device].replica { count(.confirmed) }
            drive(device) { machine, now, generator in machine.onOutcome(outcome, now: now, using: &generator) }
        }
    }

    mutating func setRoute(_ device: Int, _ isUp: Bool) {
        if !isUp { count(.routeDown) }
        devices[device].isRouteUp = isUp
        drive(device) { machine, now, generator in machine.onRoute(isUp: isUp, now: now, using: &generator) }
    }

    mutating func onTimer(_ device: Int) {
        devices[device].timerAt = nil
        drive(device) { machine, now, generator in machine.onTimer(now: now, using: &generator) }
    }

    mutating func person(_ device: Int) {
        let own = devices[device].machine.queue.filter { $0.entry.isOwn }
        guard let line = own.randomElement(using: &generator) else {
            if hasFaults { schedule(.person, within: 60_000, device: device, outlives: true) }
            return
        }
        let token = line.entry.token
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1:
            if line.state != .rejected, line.state != .answered { count(.drop) }
            drive(device) { machine, now, generator in
                (try? machine.onDrop(token, now: now, using: &generator)) ?? []
            }
        case 2:
            count(.retryByHand)
            drive(device) { machine, now, generator in
                (try? machine.onRetry(token, now: now, using: &generator)) ?? []
            }
        default:
            count(.pause)
            let lane = generator.oneIn(3) ? nil : line.entry.lane
            drive(device) { machine, now, generator in
                machine.onPause(lane, now: now, using: &generator)
            }
        }
    }

    private mutating func write(_ exchange: OutboxMachine.ExchangeNumber, on device: Int) {
        for record in devices[device].unwritten.removeValue(forKey: exchange) ?? [] {
            devices[device].records[record.token] = record
        }
    }

    mutating func written(_ exchange: OutboxMachine.ExchangeNumber, on device: Int) {
        if hasFaults, generator.oneIn(50) {
            count(.storeFailed)
            devices[device].unwritten[exchange] = nil
            drive(device) { machine, now, generator in
                machine.onPersistFailed(exchange, now: now, using: &generator)
            }
        } else {
            write(exchange, on: device)
            drive(device) { machine, now, generator in
                machine.onPersisted(exchange, now: now, using: &generator)
            }
        }
    }

    mutating func withdrawalWritten(_ token: MutationToken, job: JobID, on device: Int) {
        if hasFaults, generator.oneIn(8) {
            count(.withdrawFailed)
            drive(device) { machine, now, generator in
                machine.onWithdrawFailed(token, now: now, using: &generator)
            }
        } else {
            count(.withdrawn)
            devices[device].withdrawn.insert(token)
            drive(device) { machine, now, generator in machine.onWithdrawn(token, now: now, using: &generator) }
        }
    }
}
