import CRDT
import Engine
import Replication
import Transport

/// Connections between simulated laptops: each direction delivers in order and late, until the connection breaks.
final class MemoryNetwork: @unchecked Sendable {
    /// What arrives at one end of a connection.
    fileprivate final class Inbox: @unchecked Sendable {
        struct Arrival {
            let time: Int64
            /// Nil at the end of the connection.
            let message: Message?
            let reason: String
        }

        private var arrivals: [Arrival] = []
        private var reader: CheckedContinuation<Void, Never>?
        /// Its laptop is off: nobody is told anything any more.
        var isDead = false
        /// It hears, or has heard, that the connection has ended.
        private(set) var isClosed = false

        func add(_ arrival: Arrival) {
            arrivals.append(arrival)
            wake()
        }

        /// Nothing comes any more, and what is under way is lost.
        func close(at time: Int64, _ reason: String) {
            isClosed = true
            arrivals = [Arrival(time: time, message: nil, reason: reason)]
            wake()
        }

        /// Nothing comes after what is under way.
        func end(at time: Int64, _ reason: String) {
            isClosed = true
            add(Arrival(time: time, message: nil, reason: reason))
        }

        private func wake() {
            reader?.resume()
            reader = nil
        }

        func next() async -> Arrival {
            while arrivals.isEmpty { await withCheckedContinuation { reader = $0 } }
            return arrivals[0]
        }

        /// What was seen last, if it still comes.
        func take() -> Arrival { arrivals.removeFirst() }
    }

    /// Who can ever reach whom.
    enum Topology: CaseIterable {
        case everybody, chain, star
    }

    fileprivate struct End {
        let laptop: Int
        let link: LinkID
        let inbox: Inbox
        let host: Host
        /// What its key has proved.
        let device: DeviceID
        /// The jobs of which it has spoken on this connection.
        var spokenOf: Set<JobID> = []
        /// What it has said there of who is on them.
        var words: [JobID: SaidWords] = [:]
        var lastArrival: Int64 = 0
        /// What hangs on the way to it, to arrive when the way is mended.
        var hanging: [Message] = []
    }

    /// The other end of a connection.
    struct Other {
        let laptop: Int
        let device: DeviceID
        /// The jobs of which either end has spoken.
        let spokenOf: Set<JobID>
        /// What both have told each other of who is on the job that is spoken of.
        let words: SaidWords
    }

    fileprivate struct Host {
        let handler: any TransportHandler
        let processor: Processor
        /// What its key would prove.
        let device: @Sendable () -> DeviceID
    }

    fileprivate final class Connection: @unchecked Sendable {
        var ends: [End]
        var isOpen = true

        init(_ ends: [End]) {
            self.ends = ends
        }

        func other(than own: Int, for message: Message) -> Other {
            let other = ends[1 - own]
            var words = SaidWords()
            if let job = message.job { for end in ends { words.add(end.words[job] ?? SaidWords()) } }
            return Other(
                laptop: other.laptop, device: other.device, spokenOf: other.spokenOf.union(ends[own].spokenOf),
                words: words)
        }

        func note(_ message: Message, from own: Int) {
            ends[own].spokenOf.formUnion(message.jobs)
            guard case .assignments(let statements) = message else { return }
            for statement in statements { ends[own].words[statement.job, default: SaidWords()].add(statement) }
        }
    }

    let scheduler: Scheduler
    private var hosts: [Int: Host] = [:]
    private var connections: [LinkID: Connection] = [:]
    private var cuts: Set<[Int]> = []
    /// From whom to whom nothing gets, without anybody seeing it.
    private var hung: Set<[Int]> = []
    private let topology: Topology
    private var nextLink: UInt64 = 1
    private var generator: SeededGenerator
    /// Told which laptop is about to hear another's time.
    var isAnswered: (Int) -> Void = { _ in }
    /// Told what a laptop is about to send, and to whom.
    var isSending: (Int, Message, Other) -> Void = { _, _, _ in }
    private(set) var messages = 0
    private(set) var breaks = 0
    /// Connections of which one end heard that they ended.
    private(set) var halfEnds = 0
    /// Messages that hung, and ways that were full.
    private(set) var hangs = 0
    private(set) var congestions = 0

    init(seed: UInt64, topology: Topology, scheduler: Scheduler) {
        self.scheduler = scheduler
        self.topology = topology
        generator = SeededGenerator(seed: seed ^ 0x2e7)
    }

    static func address(of laptop: Int) -> PeerAddress { PeerAddress(host: "laptop", port: laptop + 1) }

    // MARK: Who is there

    func attach(
        _ handler: any TransportHandler, of laptop: Int, on processor: Processor,
        device: @escaping @Sendable () -> DeviceID
    ) {
        hosts[laptop] = Host(handler: handler, processor: processor, device: device)
    }

    /// Its power is gone: whoever was connected with it finds out in a while.
    func detach(_ laptop: Int) {
        hosts[laptop] = nil
        for connection in open(of: laptop) {
            for end in connection.ends where end.laptop == laptop { end.inbox.isDead = true }
            close(connection, "the power is gone")
        }
    }

    func cut(_ first: Int, _ second: Int) {
        cuts.insert([min(first, second), max(first, second)])
        for connection in open(of: first) where connection.ends.contains(where: { $0.laptop == second }) {
            breaks += 1
            close(connection, "the cable is cut")
        }
    }

    /// The first has no connection with the second any more, which does not hear of it.
    func end(_ first: Int, leaving second: Int) {
        for connection in open(of: first) where connection.ends.contains(where: { $0.laptop == second }) {
            halfEnds += 1
            connection.isOpen = false
            for end in connection.ends where end.laptop == first {
                end.inbox.close(at: scheduler.now + delay(), "the other end is gone")
            }
        }
    }

    /// Nothing gets from the first to the second, and TCP tries on.
    func hang(_ first: Int, _ second: Int) { hung.insert([first, second]) }

    func heal() {
        cuts = []
        hung = []
        for (link, connection) in connections.sorted(by: { $0.key < $1.key }) where connection.isOpen {
            for side in 0...1 where connection.ends[side].link == link {
                let messages = connection.ends[side].hanging
                connection.ends[side].hanging = []
                for message in messages { deliver(message, to: side, of: connection) }
            }
        }
    }

    /// What the first writes to the second backs up, for a while.
    func congest(_ first: Int, _ second: Int) {
        for connection in open(of: first) where connection.ends.contains(where: { $0.laptop == second }) {
            guard let end = connection.ends.first(where: { $0.laptop == first }) else { continue }
            congestions += 1
            Task(executorPreference: end.host.processor) { [scheduler] in
                await end.host.handler.backlogChanged(end.link, congested: true)
                await scheduler.pass(microseconds: 20_000_000)
                if connection.isOpen { await end.host.handler.backlogChanged(end.link, congested: false) }
            }
        }
    }

    /// The second gets something that the first has never sent.
    ///
    /// - Returns: false when they are not connected.
    func forge(_ message: Message, from first: Int, to second: Int) -> Bool {
        let connection = open(of: first).first { $0.ends.contains { $0.laptop == second } }
        guard let connection, let side = connection.ends.firstIndex(where: { $0.laptop == second }) else {
            return false
        }
        deliver(message, to: side, of: connection)
        return true
    }

    /// Each can reach each.
    var isOfEverybody: Bool { topology == .everybody }

    /// Whom somebody who is no laptop can reach.
    func neighbours(of place: Int) -> [Int] { (0..<place).filter { areNeighbours($0, place) } }

    private func areNeighbours(_ first: Int, _ second: Int) -> Bool {
        switch topology {
        case .everybody: true
        case .chain: abs(first - second) == 1
        case .star: first == 0 || second == 0
        }
    }

    private func open(of laptop: Int) -> [Connection] {
        connections.sorted { $0.key < $1.key }.map(\.value).filter { connection in
            connection.isOpen && connection.ends.contains { $0.laptop == laptop }
        }
    }

    // MARK: Connections

    fileprivate func dial(_ address: PeerAddress, from laptop: Int) {
        guard let processor = hosts[laptop]?.processor else { return }
        Task(executorPreference: processor) { [self] in
            await scheduler.pass(microseconds: delay())
            guard let caller = hosts[laptop] else { return }
            let other = address.port - 1
            guard let callee = hosts[other], areNeighbours(laptop, other),
                !cuts.contains([min(laptop, other), max(laptop, other)])
            else {
                return await caller.handler.dialFailed(address, .silent, reason: "nobody answers")
            }
            let ends = [(laptop, caller), (other, callee)].map { place, host in
                nextLink += 1
                return End(
                    laptop: place, link: LinkID(number: nextLink), inbox: Inbox(), host: host, device: host.device())
            }
            let connection = Connection(ends)
            for end in ends { connections[end.link] = connection }
            serve(ends[0], with: ends[1].device, dialled: address)
            serve(ends[1], with: ends[0].device, dialled: nil)
        }
    }

    /// Hands what arrives on, one after another, until the end.
    private func serve(_ end: End, with device: DeviceID, dialled: PeerAddress?) {
        let inbox = end.inbox
        let link = end.link
        let handler = end.host.handler
        Task(executorPreference: end.host.processor) { [self] in
            await handler.linkOpened(link, with: device, remote: "laptop", dialled: dialled)
            while true {
                let arrival = await inbox.next()
                await scheduler.pass(microseconds: max(0, arrival.time - scheduler.now))
                guard !inbox.isDead else { return }
                // The end may have overtaken what was seen under way.
                let next = inbox.take()
                guard let message = next.message else { return await handler.linkClosed(link, reason: next.reason) }
                if case .pong = message { isAnswered(end.laptop) }
                await handler.received(message, on: link)
            }
        }
    }

    fileprivate func send(_ message: Message, on link: LinkID) {
        guard let connection = connections[link], connection.isOpen,
            let own = connection.ends.firstIndex(where: { $0.link == link }), !connection.ends[own].inbox.isDead
        else { return }
        messages += 1
        isSending(connection.ends[own].laptop, message, connection.other(than: own, for: message))
        connection.note(message, from: own)
        guard !hung.contains([connection.ends[own].laptop, connection.ends[1 - own].laptop]) else {
            hangs += 1
            return connection.ends[1 - own].hanging.append(message)
        }
        deliver(message, to: 1 - own, of: connection)
    }

    private func deliver(_ message: Message, to side: Int, of connection: Connection) {
        let time = max(connection.ends[side].lastArrival, scheduler.now + delay())
        connection.ends[side].lastArrival = time
        connection.ends[side].inbox.add(Inbox.Arrival(time: time, message: message, reason: ""))
    }

    fileprivate func close(_ link: LinkID, _ reason: String) {
        guard let connection = connections[link] else { return }
        guard connection.isOpen else {
            // Of one that had only ended at its other end.
            for end in connection.ends where end.link == link && !end.inbox.isClosed {
                end.inbox.close(at: scheduler.now, reason)
            }
            return
        }
        connection.isOpen = false
        for end in connection.ends {
            if end.link == link {
                end.inbox.close(at: scheduler.now, reason)
            } else {
                // What was queued before is written first.
                end.inbox.end(at: max(end.lastArrival, scheduler.now + delay()), reason)
            }
        }
    }

    private func close(_ connection: Connection, _ reason: String) {
        connection.isOpen = false
        for end in connection.ends { end.inbox.close(at: scheduler.now + delay(), reason) }
    }

    private func delay() -> Int64 {
        let longest: Int64 = generator.oneIn(40) ? 900_000 : 20_000
        return Int64.random(in: 50...longest, using: &generator)
    }
}

/// One laptop's side of the network.
struct MemoryLinks: PeerLinks {
    let network: MemoryNetwork
    let laptop: Int

    func dial(_ address: PeerAddress) { network.dial(address, from: laptop) }
    func send(_ message: Message, on link: LinkID) { network.send(message, on: link) }
    func established(_ link: LinkID) {}
    func close(_ link: LinkID, reason: String) { network.close(link, reason) }
}
