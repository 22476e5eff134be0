import CRDT
import Outbox
import Replication
import Storage

/// Several laptops and the network between them in virtual time.
///
/// The production mesh and store run unchanged; the world carries the mesh's directives out, late and in a random
/// interleaving, and loses what a crash or a broken connection loses. The same plan gives the same run, in every
/// process: `trace` is the proof. Whatever breaks a rule is thrown as a `Violation`.
final class World {
    let plan: Plan
    /// Those that the plan speaks of; others come of late work.
    let jobs: [JobID]
    var devices: [Device] = []
    var network: Network
    /// Microseconds of true time since the beginning.
    var now: Int64 = 0
    var events = EventQueue()
    var counters = Counters()
    let checker: Checker
    let office: Office
    /// A running hash over everything that happened.
    private(set) var trace: UInt64 = 0
    /// Faults are over: the network is a good one.
    var isCalm = false
    /// For people who look at one run: gets a line per event.
    var narrate: ((String) -> Void)?

    init(_ plan: Plan) throws {
        self.plan = plan
        network = Network(seed: plan.seed, topology: plan.profile.topology)
        counters = Counters(of: plan.profile)
        jobs = (0..<plan.profile.jobs).map { JobID(ItemID(UInt128(7 + $0))) }
        checker = Checker()
        office = try Office(seed: plan.seed)
        for index in 0..<plan.devices {
            devices.append(
                try Device(index: index, seed: plan.seed, profile: plan.profile.clocks[index]))
        }
        for clock in plan.profile.clocks {
            if clock.wallErrorMilliseconds != 0 { counters.count(.wrongClock) }
            if clock.partsPerMillion != 0 { counters.count(.drift) }
        }
        if plan.profile.topology != .everybody { counters.count(.sparseNetwork) }
        if plan.profile.jobs > 1 { counters.count(.severalJobs) }
    }

    // MARK: Time

    /// Lets everything happen that is due until `time`.
    func run(until time: Int64) async throws {
        while let event = events.popFirst(until: time) {
            now = max(now, event.time)
            try await handle(event)
        }
        now = max(now, time)
    }

    private func handle(_ event: EventQueue.Event) async throws {
        if case .office(let event) = event.kind { return try await take(event) }
        let device = devices[event.device]
        guard device.isUp, device.incarnation == event.incarnation else {
            if case .persist = event.kind { counters.count(.writeLostToCrash) }
            return
        }
        if let wakesAt = device.wakesAt {
            if wakesAt > now {
                // It sleeps: everything waits for it.
                events.postpone(event, to: wakesAt)
                return
            }
            device.wakesAt = nil
        }
        let elapsed = device.elapsedMilliseconds(at: now)
        switch event.kind {
        case .message(let message, let place):
            guard let connection = network.connections[place.connection],
                connection.closedAt[place.side].map({ now < $0 }) ?? true
            else {
                counters.count(.messageLostAtBreak)
                return
            }
            record("message", device, UInt64(event.order))
            if device.isOvertaken(message, sent: event.order) { counters.count(.reordering) }
            narrate?("\(now) device \(device.index) gets \(message.brief)")
            let link = connection.ends[place.side].link
            try await perform(device.mesh.onMessage(message, on: link, now: elapsed), by: device)
        case .closed(let place):
            guard let link = network.connections[place.connection]?.ends[place.side].link else { return }
            narrate?("\(now) device \(device.index) sees \(link) closed")
            endExposure(of: link, by: device)
            try await perform(device.mesh.onLinkClosed(link, now: elapsed), by: device)
        case .persist(let job, let segment, let link):
            try await persist(segment, of: job, from: link, by: device)
        case .committed(let job, let segment):
            try await perform(device.mesh.onCommitted(segment, job: job, now: elapsed), by: device)
        case .timer:
            device.timerAt = nil
            try await perform(device.mesh.onTimer(now: elapsed), by: device)
        case .dial: try await dial(from: device)
        case .askServer: try await askServer(by: device)
        case .serverAnswer(let sent, let received):
            try await serverAnswered(sent: sent, received: received, to: device)
        case .free: try await free(by: device)
        case .congestion(let link, let isCongested):
            try await perform(device.mesh.onCongestion(link, isCongested: isCongested, now: elapsed), by: device)
        case .office: break
        case .officeAnswer(let purpose, let job, let answer, let life):
            try await answered(purpose, job, answer, life: life, to: device)
        case .outboxPersisted(let exchange, let isDurable):
            try await persisted(exchange, isDurable: isDurable, by: device)
        case .outboxTimer:
            device.outboxTimerAt = nil
            try await drive(device) { machine, now, generator in machine.onTimer(now: now, using: &generator) }
        case .lookAtRequests(let job): try await lookAtRequests(of: job, by: device)
        }
    }

    func add(_ kind: EventQueue.Kind, after microseconds: Int64, to device: Device) {
        events.add(kind, at: now + microseconds, device: device.index, incarnation: device.incarnation)
    }

    func scheduleTimer(of device: Device) {
        guard device.isUp, let deadline = device.mesh.nextDeadline else { return }
        let time = device.clock.trueTime(atElapsed: Int64(deadline) * 1_000, now: now)
        if let timerAt = device.timerAt, timerAt <= time { return }
        device.timerAt = time
        events.add(.timer, at: time, device: device.index, incarnation: device.incarnation)
    }

    // MARK: Connections

    /// Dials whom it could reach and has no connection with; both sides dial, now and then.
    private func dial(from device: Device) async throws {
        let peers = Set(device.mesh.overview().map(\.peer.device))
        for other in devices where other.index != device.index && other.isUp && other.wakesAt ?? 0 <= now {
            guard network.canDial(device.index, other.index), !peers.contains(other.store.identity.device) else {
                continue
            }
            let isDialling = network.open(between: device.index, other.index).contains {
                network.connections[$0]?.ends[0].device == device.index
            }
            if !isDialling { try await connect(device, other) }
        }
        let wait = Int64.random(in: 300_000...3_000_000, using: &device.generator)
        add(.dial, after: wait, to: device)
    }

    private func connect(_ dialler: Device, _ other: Device) async throws {
        // What is under way to a sleeper still names its connection: keep it for long.
        network.forgetClosed(before: now - 100 * 86_400_000_000)
        let (_, connection) = network.connect(dialler.index, other.index)
        counters.connections += 1
        record("connect", dialler, UInt64(other.index))
        for (side, device) in [dialler, other].enumerated() {
            let elapsed = device.elapsedMilliseconds(at: now)
            let link = connection.ends[side].link
            try await perform(device.mesh.onLinkOpened(link, isDialled: side == 0, now: elapsed), by: device)
        }
    }

    /// Both ends see it soon, each in its own time; what is under way is lost where it comes too late.
    func close(_ number: Int) {
        guard let connection = network.connections[number], connection.isOpen else { return }
        let ends = connection.ends
        let times = network.draw(ends[0].device, ends[1].device) { generator in
            [0, 1].map { _ in now + Int64.random(in: 0...20_000, using: &generator) }
        }
        for (place, time) in network.close(number, at: times) {
            let device = devices[ends[place.side].device]
            events.add(.closed(place), at: time, device: device.index, incarnation: device.incarnation)
        }
    }

    func record(_ what: StaticString, _ device: Device, _ number: UInt64) {
        var bytes = ByteWriter()
        bytes.write("\(what)")
        bytes.write(now)
        bytes.write(UInt64(device.index))
        bytes.write(number)
        trace = bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (trace, 0)) }
    }
}
