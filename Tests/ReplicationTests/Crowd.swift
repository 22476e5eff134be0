import CRDT
import Timekeeping

@testable import Replication

/// Many meshes with journals in memory, few links each, and a disk that takes its time.
struct Crowd {
    struct Laptop {
        var mesh: Mesh
        var journals: [JournalName: [JournalSegment]] = [:]
        var queue = IngestQueue()
        /// In messages: what has come before is handled first.
        var busyUntil: UInt64 = 0
        var timerDue: UInt64?
    }

    /// How long a message is on its way, in milliseconds, at least and at most.
    private static let latency: ClosedRange<UInt64> = 1...10
    /// Of a disk, in milliseconds.
    private static let flush: UInt64 = 10
    /// That a laptop handles, each after the others.
    private static let messagesPerMillisecond: UInt64 = 2

    private enum Event {
        case arrival(Message, LinkID, to: Int)
        case stored([IngestQueue.Run], at: Int)
        case edit(JournalName, at: Int)
        case timer(Int)
    }

    private(set) var laptops: [Laptop] = []
    private(set) var now: UInt64 = 1_000
    /// Transforms that went to anybody.
    private(set) var received = 0
    private(set) var refusals: [String] = []
    private var ends: [LinkID: (Int, Int)] = [:]
    private var events: [UInt64: [Event]] = [:]
    private var generator: SeededGenerator

    /// - Parameter linksEach: each laptop dials so many of those before it, drawn from the seed.
    init(_ count: Int, linksEach: Int, seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        for index in 0..<count {
            laptops.append(
                Laptop(
                    mesh: Mesh(
                        device: Self.device(index), replica: ReplicaID(UInt128(index + 1)), instance: UInt64(index),
                        name: "laptop", jobs: [])))
        }
        for index in 1..<count {
            for other in Array(0..<index).shuffled(using: &generator).prefix(linksEach) {
                let link = LinkID(number: UInt64(ends.count + 1))
                ends[link] = (index, other)
                for (one, peer) in [(index, other), (other, index)] {
                    laptops[one].mesh.meetWithoutComparing(Self.device(peer), on: link, now: now)
                }
                for one in [index, other] {
                    perform(laptops[one].mesh.onMessage(.ready, on: link, now: now), by: one)
                }
            }
        }
    }

    static func device(_ index: Int) -> DeviceID { DeviceID(high: 0, low: UInt128(index + 1)) }

    /// An edit becomes durable at a laptop after so many milliseconds.
    mutating func edit(_ job: JobID, at index: Int, in delay: UInt64) {
        schedule(.edit(JournalName(job: job, replica: ReplicaID(UInt128(index + 1))), at: index), in: delay)
    }

    mutating func pass(_ milliseconds: UInt64) {
        let end = now + milliseconds
        while now < end {
            while let due = events.removeValue(forKey: now) {
                for event in due { handle(event) }
            }
            now += 1
        }
    }

    /// - Returns: after how many milliseconds all held that many edits of everybody; the limit if they never did.
    mutating func passUntilLevel(_ job: JobID, edits: UInt64, limit: UInt64) -> UInt64 {
        let start = now
        while now < start + limit {
            pass(5)
            let vectors = Set(laptops.map { $0.mesh.vector(of: job) })
            if let vector = vectors.first, vectors.count == 1, vector.entries.count == laptops.count,
                vector.entries.allSatisfy({ $0.head.sequence == edits })
            {
                break
            }
        }
        return now - start
    }

    private mutating func schedule(_ event: Event, in delay: UInt64) {
        events[now + delay, default: []].append(event)
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .arrival(let message, let link, let index):
            perform(laptops[index].mesh.onMessage(message, on: link, now: now), by: index)
            setTimer(of: index)
        case .stored(let batch, let index):
            laptops[index].queue.finished(batch)
            for run in batch {
                let name = JournalName(job: run.job, replica: run.segment.replica)
                let head = laptops[index].mesh.vector(of: run.job)[run.segment.replica]
                let result: IngestResult =
                    run.segment.first > head.sequence + 1
                    ? .gap(head)
                    : run.segment.head.sequence <= head.sequence ? .duplicate(head) : .stored
                if result == .stored { laptops[index].journals[name, default: []].append(run.segment) }
                perform(
                    laptops[index].mesh.onPersisted(
                        run.segment, job: run.job, from: run.link, result: result, now: now), by: index)
            }
            store(at: index)
            setTimer(of: index)
        case .edit(let name, let index):
            let segment = Pair.segment(of: name, laptops[index].mesh.vector(of: name.job)[name.replica].sequence + 1)
            laptops[index].journals[name, default: []].append(segment)
            perform(laptops[index].mesh.onCommitted(segment, job: name.job, now: now), by: index)
            setTimer(of: index)
        case .timer(let index):
            laptops[index].timerDue = nil
            perform(laptops[index].mesh.onTimer(now: now), by: index)
            setTimer(of: index)
        }
    }

    /// Its daemon sets one timer, for what is due first.
    private mutating func setTimer(of index: Int) {
        guard let due = laptops[index].mesh.nextDeadline else { return }
        if let set = laptops[index].timerDue, set <= max(due, now) { return }
        laptops[index].timerDue = max(due, now)
        schedule(.timer(index), in: max(due, now) - now)
    }

    private mutating func store(at index: Int) {
        let batch = laptops[index].queue.nextBatch()
        if !batch.isEmpty { schedule(.stored(batch, at: index), in: Self.flush) }
    }

    private mutating func send(_ message: Message, on link: LinkID, from index: Int) {
        guard let (one, other) = ends[link] else { return }
        let to = one == index ? other : one
        if case .ping(let number) = message {
            perform(
                laptops[index].mesh.onMessage(
                    .pong(number, received: 0, answered: 0, .unsynchronised), on: link, now: now), by: index)
            return
        }
        if case .delta(_, let segment, _) = message { received += Int(segment.head.sequence - segment.first + 1) }
        let free = max(
            laptops[to].busyUntil,
            (now + UInt64.random(in: Self.latency, using: &generator)) * Self.messagesPerMillisecond)
        laptops[to].busyUntil = free + 1
        schedule(.arrival(message, link, to: to), in: free / Self.messagesPerMillisecond - now)
    }

    private mutating func perform(_ directives: [some LinkDirecting], by index: Int) {
        for directive in directives {
            switch directive.onLink {
            case .send(let message, let link): send(message, on: link, from: index)
            case .close(_, let reason): refusals.append(reason)
            case nil: perform(directive, by: index)
            }
        }
    }

    private mutating func perform(_ directive: some LinkDirecting, by index: Int) {
        switch directive as Any {
        case MessageDirective.persist(let job, let segment, let from):
            laptops[index].queue.add(IngestQueue.Run(job: job, segment: segment, link: from))
            store(at: index)
        case MessageDirective.stream(let stream): perform([stream], by: index)
        case StreamDirective.load(let job, let replica, let from, _, let link):
            let held = laptops[index].journals[JournalName(job: job, replica: replica)]
            let segment = held?.first { $0.head.sequence >= from }
            perform(
                laptops[index].mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now),
                by: index)
        default: break
        }
    }
}
