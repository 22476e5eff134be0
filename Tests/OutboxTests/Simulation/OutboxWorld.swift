import CRDT
import Outbox
import Simulation

/// What can go wrong in a run; a fault that never happened proves nothing.
enum OutboxFault: String, CaseIterable {
    case requestLost, replyLost, silence, duplicate, restart, reboot, attemptLostToRestart, recordLostToRestart, busy,
        broken, unauthorised
    case unreachable, routeDown, drop, withdrawFailed, pause, retryByHand, storeFailed
    // What has to come of them.
    case rejected, predecessorMissing, journalBrought, sameTokenAgain, byAnotherGateway, withdrawn, lateAnswer,
        confirmed
    // Of exchanges of several.
    case together, manyTogether, answeredInPart, failedTogether
}

/// Several laptops and the office in virtual time, from one seed: first with faults, then without, until all is settled.
struct OutboxWorld {
    enum Event {
        case ask, gossip, poll, timer, restart, route(Bool), trouble, person
        case written(OutboxMachine.ExchangeNumber), journalBrought(JobID, ReplicaID), withdrawalWritten(
            JobID, MutationToken)
        case arrive(Sent)
        case reply(Sent, OutboxMachine.Reply)
    }

    /// What a device has sent in one exchange.
    struct Sent {
        let exchange: OutboxMachine.ExchangeNumber
        let entries: [OutboxEntry]
    }

    struct Scheduled {
        let time: UInt64
        let order: Int
        let device: Int
        /// The daemon that it is meant for; nil for what outlives one.
        let incarnation: Int?
        let event: Event
    }

    enum Trouble: CaseIterable { case well, busy, broken, unauthorised, unreachable }

    static let faultsEnd: UInt64 = 600_000
    /// Longer than the longest waits that follow each other: credentials, Retry-After, confirmation, back-off.
    static let latestEnd: UInt64 = faultsEnd + 3 * 3_600_000

    let seed: UInt64
    var generator: SeededGenerator
    var now: UInt64 = 0
    private var events: [Scheduled] = []
    private var added = 0
    var devices: [OutboxDevice]
    var server = ModelServer()
    var trouble = Trouble.well
    var counters: [OutboxFault: Int] = [:]
    var violations: [String] = []
    var asked: [MutationToken: OutboxEntry] = [:]
    var askedOrder: [MutationToken] = []
    var steps = 0
    /// Restarts the only device right before this step, and has no other fault.
    let restartAt: Int?

    init(seed: UInt64, restartAt: Int? = nil) {
        self.seed = seed
        self.restartAt = restartAt
        generator = SeededGenerator(seed: seed)
        let count = restartAt == nil ? Int.random(in: 2...4, using: &generator) : 1
        devices = (0..<count).map { OutboxDevice(number: $0) }
        for device in devices.indices {
            start(device)
            for _ in 0..<(restartAt == nil ? 12 : 4) {
                schedule(.ask, within: Self.faultsEnd, device: device, outlives: true)
            }
            schedule(.gossip, within: 10_000, device: device, outlives: true)
            schedule(.poll, within: 10_000, device: device, outlives: true)
            guard restartAt == nil else { continue }
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                schedule(.restart, within: Self.faultsEnd, device: device, outlives: true)
            }
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                schedule(.person, within: Self.faultsEnd, device: device, outlives: true)
            }
            schedule(.route(false), within: Self.faultsEnd, device: device, outlives: true)
        }
        if restartAt == nil { schedule(.trouble, within: 60_000, device: 0, outlives: true) }
    }

    mutating func count(_ fault: OutboxFault) { counters[fault, default: 0] += 1 }

    var hasFaults: Bool { restartAt == nil && now < Self.faultsEnd }

    mutating func schedule(
        _ event: Event, within: UInt64 = 0, after: UInt64 = 0, device: Int, outlives: Bool = false
    ) {
        added += 1
        let time = now + after + (within > 0 ? UInt64.random(in: 1...within, using: &generator) : 0)
        let incarnation = outlives ? nil : devices[device].incarnation
        let scheduled = Scheduled(time: time, order: added, device: device, incarnation: incarnation, event: event)
        // Few are under way at a time.
        let place = events.lastIndex { ($0.time, $0.order) <= (time, added) }.map { $0 + 1 } ?? 0
        events.insert(scheduled, at: place)
    }

    /// Until everything is settled, or time is up.
    mutating func run() {
        var isHealed = false
        while !events.isEmpty, violations.isEmpty {
            let next = events.removeFirst()
            now = max(now, next.time)
            if !isHealed, now >= Self.faultsEnd {
                isHealed = true
                heal()
            }
            if now > Self.latestEnd { break }
            if isHealed, isSettled { break }
            steps += 1
            if steps == restartAt { restart(0, isReboot: false) }
            if let incarnation = next.incarnation, incarnation != devices[next.device].incarnation {
                if case .reply = next.event { count(.attemptLostToRestart) }
                continue
            }
            take(next.event, on: next.device)
        }
        checkEnd()
    }

    private mutating func take(_ event: Event, on device: Int) {
        switch event {
        case .ask: ask(device)
        case .gossip:
            gossip(from: device)
            schedule(.gossip, within: 20_000, device: device, outlives: true)
        case .poll:
            poll(device)
            schedule(.poll, within: 30_000, device: device, outlives: true)
        case .timer: onTimer(device)
        case .restart:
            restart(device, isReboot: generator.oneIn(3))
        case .route(let isUp):
            setRoute(device, isUp || !hasFaults)
            if hasFaults {
                schedule(.route(!isUp), within: isUp ? 300_000 : 60_000, device: device, outlives: true)
            }
        case .trouble:
            trouble = generator.oneIn(2) ? .well : Trouble.allCases.randomElement(using: &generator) ?? .well
            if hasFaults { schedule(.trouble, within: 40_000, device: 0, outlives: true) } else { trouble = .well }
        case .person: if hasFaults { person(device) }
        case .written(let exchange): written(exchange, on: device)
        case .journalBrought(let job, let author): bringJournal(job, author, from: device)
        case .withdrawalWritten(let job, let token): withdrawalWritten(token, job: job, on: device)
        case .arrive(let sent): arrive(sent, from: device)
        case .reply(let sent, let reply): receive(sent, reply, on: device)
        }
    }

    /// From here on everything works, and people let everything go on.
    private mutating func heal() {
        trouble = .well
        for device in devices.indices {
            setRoute(device, true)
            drive(device) { machine, now, generator in
                machine.onResume(nil, now: now, using: &generator)
                    + machine.onCredentials(now: now, using: &generator)
            }
        }
    }

    private var isSettled: Bool {
        askedOrder.allSatisfy { server.outcomes[$0] != nil }
            && devices.allSatisfy { device in
                device.machine.queue.allSatisfy { $0.state == .rejected } && device.known.count == askedOrder.count
                    && server.channels.allSatisfy { device.published[$0.key]?.length == $0.value.count }
            }
    }
}
