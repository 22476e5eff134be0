package import CRDT
package import Inventory
import Replication
import Timekeeping

/// Several devices, their stores and the network between them in virtual time, driven by one seed.
///
/// The production mesh runs unchanged; the world carries its directives out, late, in a random interleaving, and loses
/// what a crash or a broken connection loses. The same seed gives the same run, in every process: `trace` is the proof.
package struct World {
    package struct Device {
        package var store: ModelStore
        var mesh: Mesh
        var incarnation = 0
        var isUp = true
        /// An older copy of the store, to set it back to.
        var backup: ModelStore?
        var timerAt: UInt64?
    }

    struct Connection {
        let ends: [(device: Int, link: LinkID)]
        var isOpen = true
        /// Per direction: the time of the last delivery, because a connection keeps its order.
        var lastDelivery: [UInt64] = [0, 0]
    }

    package private(set) var devices: [Device] = []
    package private(set) var now: UInt64 = 1_000
    package private(set) var counters = Counters()
    /// A running hash over everything that happened.
    package private(set) var trace: UInt64 = 0
    package let job = JobID(ItemID(UInt128(7)))
    /// What was acknowledged to an author: (author, stamp) of each, to find again in the end (rule R4).
    package private(set) var acknowledged: [WriteStamp] = []
    var generator: SeededGenerator
    var connections: [Connection] = []
    var reachable: Set<Pair> = []
    private var events = EventQueue()
    private var nextLink: UInt64 = 1
    package var itemPool: [ItemID] = []
    package var maximumDelay: UInt64 = 30

    struct Pair: Hashable {
        let low: Int
        let high: Int

        init(_ first: Int, _ second: Int) {
            low = min(first, second)
            high = max(first, second)
        }
    }

    package init(seed: UInt64, devices count: Int) {
        generator = SeededGenerator(seed: seed)
        for index in 0..<count {
            let store = ModelStore(
                device: .random(using: &generator), replica: .random(using: &generator))
            devices.append(Device(store: store, mesh: Self.mesh(for: store, instance: UInt64(index))))
        }
        for first in 0..<count {
            for second in 0..<first { reachable.insert(Pair(first, second)) }
        }
    }

    private static func mesh(for store: ModelStore, instance: UInt64) -> Mesh {
        Mesh(
            device: store.device, replica: store.replica, instance: instance, name: "laptop", fleet: "",
            jobs: store.vectors())
    }

    // MARK: What people and accidents do

    package mutating func edit(_ device: Int, _ edit: Edit) {
        guard devices[device].isUp else { return }
        // Each laptop's clock is wrong in its own way; the hybrid clock makes do.
        let clock = 1_700_000_000_000 + now + UInt64(device) * 250
        guard let segment = devices[device].store.edit(edit, job: job, nowMilliseconds: clock) else { return }
        counters.edits += 1
        let stamp = devices[device].store.clock.latest
        acknowledged.append(WriteStamp(stamp: stamp, author: segment.replica))
        record("edit", device, segment.head.sequence)
        perform(devices[device].mesh.onCommitted(segment, job: job, now: now), by: device)
    }

    package mutating func cut(_ first: Int, _ second: Int) {
        guard reachable.remove(Pair(first, second)) != nil else { return }
        counters.cuts += 1
        for index in connections.indices where connections[index].isOpen {
            let ends = Set(connections[index].ends.map(\.device))
            if ends == [first, second] { close(index) }
        }
    }

    package mutating func heal(_ first: Int, _ second: Int) {
        if reachable.insert(Pair(first, second)).inserted { counters.heals += 1 }
    }

    package mutating func crash(_ device: Int) {
        guard devices[device].isUp else { return }
        counters.crashes += 1
        devices[device].isUp = false
        devices[device].incarnation += 1
        for index in connections.indices where connections[index].ends.contains(where: { $0.device == device }) {
            close(index)
        }
    }

    package mutating func restart(_ device: Int) {
        guard !devices[device].isUp else { return }
        devices[device].isUp = true
        devices[device].timerAt = nil
        let instance = UInt64(device) + UInt64(devices[device].incarnation) << 8
        devices[device].mesh = Self.mesh(for: devices[device].store, instance: instance)
        scheduleTimer(of: device)
    }

    package mutating func backUp(_ device: Int) {
        devices[device].backup = devices[device].store
    }

    /// Puts an older copy of a store back, as from a backup, without the store knowing it (rule R9).
    package mutating func setBack(_ device: Int) {
        guard let backup = devices[device].backup else { return }
        crash(device)
        if backup.vector(of: job) != devices[device].store.vector(of: job) { counters.setBacks += 1 }
        let lost = devices[device].store
        devices[device].store = backup
        restart(device)
        // What only the lost store had is lost with it, and nobody's fault.
        let kept = devices.indices.flatMap { written(in: devices[$0].store) }
        let keptSet = Set(kept)
        let lostSet = written(in: lost)
        acknowledged = acknowledged.filter { keptSet.contains($0) || !lostSet.contains($0) }
    }

    /// Every write that a store holds, by its author.
    package func written(in store: ModelStore) -> Set<WriteStamp> {
        var writes: Set<WriteStamp> = []
        for (replica, entries) in store.jobs[job]?.journals ?? [:] {
            for entry in entries { writes.insert(entry.change.write(in: replica)) }
        }
        return writes
    }

    /// Dials where two devices can reach each other and have no connection; both sides dial.
    package mutating func dialAll() {
        for dialler in devices.indices {
            for other in devices.indices where other != dialler && reachable.contains(Pair(dialler, other)) {
                let isConnected = connections.contains { connection in
                    connection.isOpen && Set(connection.ends.map(\.device)) == [dialler, other]
                        && connection.ends[0].device == dialler
                }
                let hasLink = devices[dialler].mesh.overview().contains {
                    $0.peer.device == devices[other].store.device
                }
                if devices[dialler].isUp, devices[other].isUp, !isConnected, !hasLink { connect(dialler, other) }
            }
        }
    }

    private mutating func connect(_ dialler: Int, _ other: Int) {
        let links = [LinkID(number: nextLink), LinkID(number: nextLink + 1)]
        nextLink += 2
        counters.connections += 1
        connections.append(Connection(ends: [(dialler, links[0]), (other, links[1])]))
        perform(devices[dialler].mesh.onLinkOpened(links[0], isDialled: true, now: now), by: dialler)
        perform(devices[other].mesh.onLinkOpened(links[1], isDialled: false, now: now), by: other)
    }

    // MARK: Time

    /// Lets everything happen that is due until `time`.
    package mutating func run(until time: UInt64) {
        while let event = events.popFirst(until: time) {
            now = max(now, event.time)
            handle(event)
        }
        now = time
    }

    private mutating func handle(_ event: EventQueue.Event) {
        let device = event.device
        guard devices[device].isUp, devices[device].incarnation == event.incarnation else {
            counters.lostToCrashes += 1
            return
        }
        switch event.kind {
        case .message(let message, let link, let connection):
            guard connections[connection].isOpen else {
                counters.lostMessages += 1
                return
            }
            record("message", device, UInt64(event.order))
            perform(devices[device].mesh.onMessage(message, on: link, now: now), by: device)
        case .closed(let link):
            perform(devices[device].mesh.onLinkClosed(link, now: now), by: device)
        case .persist(let job, let segment, let link):
            let outcome = devices[device].store.ingest(segment, job: job)
            if outcome == .stored { counters.stored += 1 }
            record("persist", device, segment.head.sequence)
            perform(
                devices[device].mesh.onPersisted(segment, job: job, from: link, outcome: outcome, now: now), by: device)
        case .timer:
            devices[device].timerAt = nil
            perform(devices[device].mesh.onTimer(now: now), by: device)
        }
    }

    private mutating func scheduleTimer(of device: Int) {
        guard devices[device].isUp, let deadline = devices[device].mesh.nextDeadline else { return }
        if let timerAt = devices[device].timerAt, timerAt <= deadline { return }
        devices[device].timerAt = deadline
        events.add(.timer, at: max(deadline, now), device: device, incarnation: devices[device].incarnation)
    }

    // MARK: Directives

    private mutating func perform(_ directives: [Directive], by device: Int) {
        for directive in directives { perform(directive, by: device) }
        scheduleTimer(of: device)
    }

    private mutating func perform(_ directive: Directive, by device: Int) {
        let incarnation = devices[device].incarnation
        switch directive {
        case .send(let message, let link): deliver(message, from: device, link)
        case .close(let link, _):
            if let index = connections.firstIndex(where: { $0.isOpen && $0.ends.contains { $0.link == link } }) {
                close(index)
            }
        case .persist(let job, let segment, let link):
            // A store that is set back meanwhile loses it: the event belongs to this incarnation.
            let time = now + UInt64.random(in: 0...10, using: &generator)
            events.add(.persist(job, segment, link), at: time, device: device, incarnation: incarnation)
        case .load(let job, let replica, let from, let maximumBytes, let link):
            let segment = devices[device].store.segment(of: replica, job: job, from: from, maximumBytes: maximumBytes)
            perform(
                devices[device].mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now),
                by: device)
        case .lookUp(let job, let replica, let sequence, let lookup):
            let answer = devices[device].store.lookUp(replica, job: job, sequence: sequence)
            perform(
                devices[device].mesh.onLookedUp(answer, job: job, replica: replica, for: lookup, now: now), by: device)
        case .renewReplica, .renewDevice: renew(directive, by: device)
        case .adoptBranch(let job, let segment, let keep): adopt(segment, of: job, after: keep, by: device)
        case .answerPing(let number, _, let link):
            let time = 1_700_000_000_000_000 + Int64(now) * 1_000
            deliver(.pong(number, received: time, answered: time, .unsynchronised), from: device, link)
        case .learnTime(_, _, _, let link): perform(devices[device].mesh.onTimeLearned(link, now: now), by: device)
        case .established, .recognised, .report, .reported: break
        }
    }

    private mutating func renew(_ directive: Directive, by device: Int) {
        counters.renewals += 1
        var name: DeviceID?
        if case .renewDevice = directive { name = DeviceID.random(using: &generator) }
        devices[device].store.renew(device: name, replica: .random(using: &generator))
        let store = devices[device].store
        perform(devices[device].mesh.onRenewed(device: store.device, replica: store.replica, now: now), by: device)
    }

    private mutating func adopt(_ segment: JournalSegment, of job: JobID, after keep: UInt64, by device: Int) {
        counters.branchesGivenUp += 1
        let replica = segment.replica
        if replica == devices[device].store.replica { renew(.renewReplica(reason: "fork"), by: device) }
        let adopted = devices[device].store.adoptBranch(segment, job: job, after: keep)
        perform(
            devices[device].mesh.onBranchAdopted(
                adopted?.head, job: job, replica: replica, reissued: adopted?.reissued, now: now), by: device)
    }

    private mutating func deliver(_ message: Message, from device: Int, _ link: LinkID) {
        guard let index = connections.firstIndex(where: { $0.isOpen && $0.ends.contains { $0.link == link } }) else {
            return
        }
        let side = connections[index].ends[0].link == link ? 0 : 1
        let target = connections[index].ends[1 - side]
        let delay = UInt64.random(in: 0...maximumDelay, using: &generator)
        let time = max(now + delay, connections[index].lastDelivery[side])
        connections[index].lastDelivery[side] = time
        counters.messages += 1
        if case .delta(_, let segment, _) = message {
            counters.transformsSent += Int(segment.head.sequence - segment.first + 1)
        }
        events.add(
            .message(message, target.link, connection: index), at: time, device: target.device,
            incarnation: devices[target.device].incarnation)
    }

    private mutating func close(_ index: Int) {
        guard connections[index].isOpen else { return }
        connections[index].isOpen = false
        for end in connections[index].ends {
            events.add(
                .closed(end.link), at: now, device: end.device, incarnation: devices[end.device].incarnation)
        }
    }

    private mutating func record(_ what: StaticString, _ device: Int, _ number: UInt64) {
        var bytes = ByteWriter()
        bytes.write("\(what)")
        bytes.write(now)
        bytes.write(UInt64(device))
        bytes.write(number)
        trace = bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (trace, 0)) }
    }
}
