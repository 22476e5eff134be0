import CRDT
import Timekeeping

@testable import Replication
import Simulation

/// Two meshes with journals in memory, and a line between them on which nothing is lost.
struct Pair {
    struct Side {
        var mesh: Mesh
        var journals: [JournalName: [JournalSegment]] = [:]
        /// Runs under way to it.
        var inbox: [Message] = []
    }

    let link = LinkID(number: 1)
    var sides: [Side] = []
    var now: UInt64 = 1_000
    /// Messages that were sent once the link was established.
    var messages = 0
    var refusals: [String] = []
    /// The most that was remembered of a peer's journals at a time.
    var mostEntries = 0
    var mostJobs = 0

    /// - Parameter journals: what each of the two holds, a run of one change for each.
    init(_ journals: [[JournalName]]) {
        for (index, held) in journals.enumerated() {
            var vectors: [JobID: [VersionVector.Entry]] = [:]
            var side: [JournalName: [JournalSegment]] = [:]
            for name in held {
                let segment = Self.segment(of: name, 1)
                side[name] = [segment]
                vectors[name.job, default: []].append(VersionVector.Entry(replica: name.replica, head: segment.head))
            }
            let mesh = Mesh(
                device: DeviceID(high: 0, low: UInt128(index + 1)), replica: ReplicaID(UInt128(index + 1)),
                instance: UInt64(index), name: "laptop",
                jobs: vectors.keys.sorted().map { ($0, VersionVector(vectors[$0] ?? [])) })
            sides.append(Side(mesh: mesh, journals: side))
        }
    }

    static func segment(of name: JournalName, _ sequence: UInt64) -> JournalSegment {
        JournalSegment(
            replica: name.replica, first: sequence,
            head: JournalHead(sequence: sequence, digest: JournalDigest(sequence ^ 0xabc)),
            bytes: [UInt8](repeating: 1, count: 200))
    }

    mutating func connect() {
        for index in sides.indices {
            sides[index].mesh.meetWithoutComparing(DeviceID(high: 0, low: UInt128(2 - index)), on: link, now: now)
        }
        for index in sides.indices { perform(sides[index].mesh.onMessage(.ready, on: link, now: now), by: index) }
    }

    mutating func disconnect() {
        for index in sides.indices {
            perform(sides[index].mesh.onLinkClosed(link, now: now), by: index)
            sides[index].inbox = []
        }
    }

    mutating func write(_ name: JournalName, at index: Int) {
        let segment = Self.segment(of: name, sides[index].mesh.vector(of: name.job)[name.replica].sequence + 1)
        sides[index].journals[name, default: []].append(segment)
        perform(sides[index].mesh.onCommitted(segment, job: name.job, now: now), by: index)
    }

    /// Lets messages arrive, and time pass, until nothing more is under way.
    mutating func settle(for duration: UInt64 = 2_000) {
        let end = now + duration
        repeat {
            while let index = sides.indices.first(where: { !sides[$0].inbox.isEmpty }) {
                let inbox = sides[index].inbox
                sides[index].inbox = []
                for message in inbox {
                    perform(sides[index].mesh.onMessage(message, on: link, now: now), by: index)
                    mostEntries = max(mostEntries, sides[index].mesh.links[link]?.entryCount ?? 0)
                    mostJobs = max(mostJobs, sides[index].mesh.links[link]?.jobs.count ?? 0)
                }
            }
            now = min(end, sides.compactMap(\.mesh.nextDeadline).min() ?? end)
            for index in sides.indices where sides[index].mesh.nextDeadline ?? .max <= now {
                perform(sides[index].mesh.onTimer(now: now), by: index)
            }
        } while now < end || sides.contains { !$0.inbox.isEmpty }
    }

    private mutating func perform(_ directives: [some LinkDirecting], by index: Int) {
        for directive in directives {
            switch directive.onLink {
            case .send(let message, _):
                messages += 1
                if case .ping(let number) = message {
                    // Answered at once, so that the link lives.
                    let pong = Message.pong(number, received: 0, answered: 0, .unsynchronised)
                    sides[index].inbox.append(pong)
                } else {
                    sides[1 - index].inbox.append(message)
                }
            case .close(_, let reason): refusals.append(reason)
            case nil: perform(directive, by: index)
            }
        }
    }

    /// What concerns more than a link.
    private mutating func perform(_ directive: some LinkDirecting, by index: Int) {
        switch directive as Any {
        case MessageDirective.persist(let job, let segment, let from):
            sides[index].journals[JournalName(job: job, replica: segment.replica), default: []].append(segment)
            perform(sides[index].mesh.onPersisted(segment, job: job, from: from, result: .stored, now: now), by: index)
        case MessageDirective.stream(let stream): perform([stream], by: index)
        case StreamDirective.load(let job, let replica, let from, _, let link):
            let held = sides[index].journals[JournalName(job: job, replica: replica)]
            let segment = held?.first { $0.head.sequence >= from }
            perform(
                sides[index].mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now),
                by: index)
        default: break
        }
    }

    func vectors(_ index: Int, of jobs: [JobID]) -> [VersionVector] { jobs.map(sides[index].mesh.vector) }
}

extension Mesh {
    /// Everything up to the peer's `ready`.
    mutating func meetWithoutComparing(_ peer: DeviceID, on link: LinkID, now: UInt64) {
        _ = onLinkOpened(link, with: JobAccess(peer), isDialled: true, now: now)
        _ = onMessage(.hello(.of(peer)), on: link, now: now)
        _ = onMessage(.pong(now, received: 0, answered: 0, .unsynchronised), on: link, now: now)
        _ = onTimeLearned(link, now: now)
    }
}
