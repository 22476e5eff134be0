import CRDT
import Replication
import Simulation
import Testing

@Suite("Every peer hears of every change")
struct AnnouncementTests {
    private let job = JobID(ItemID(7))
    private let link = LinkID(number: 1)
    private let other = LinkID(number: 2)
    private let own = ReplicaID(1)
    private let theirs = ReplicaID(2)

    @Test("A link that joins the tree between a change and its announcement is told of the change")
    func linkThatJoinsTheTreeLate() {
        var mesh = anna(meeting: [link])
        // Another laptop has been quicker twice: the link is outside the tree.
        _ = mesh.onCommitted(segment(of: own, 1), job: job, now: 0)
        _ = drain(&mesh, until: 1_000)
        _ = mesh.onMessage(.prune(job: job), on: link, now: 1_000)

        #expect(mesh.onCommitted(segment(of: own, 2), job: job, now: 1_000) == [], "outside the tree nothing is pushed")
        _ = drain(&mesh, until: 1_100)
        // The quicker way is gone: of another journal the peer asks to be pushed what is new from now on.
        let graft = Message.request(job: job, replica: ReplicaID(3), from: 1, credit: 1_000, graft: true)
        _ = mesh.onMessage(graft, on: link, now: 1_100)
        let told = drain(&mesh, until: 2_000).contains { directive in
            guard case .send(.have(job, let entries), link) = directive.onLink else { return false }
            return entries.contains { $0.replica == own && $0.head.sequence == 2 }
        }
        #expect(told)
    }

    @Test("What the server and a peer brought at one time is told to everybody, whichever is heard of first")
    func broughtTwice() {
        var mesh = anna(meeting: [link, other])
        let run = segment(of: theirs, 1)
        let directives = mesh.onMessage(.delta(job: job, run, pushed: true), on: link, now: 1_000)
        #expect(directives.contains(.persist(job, run, from: link)))
        // The server's is durable before it is stored, and the mesh hears of that afterwards.
        _ = mesh.onPersisted(run, job: job, from: link, result: .duplicate(run.head), now: 1_000)
        let pushed = mesh.onCommitted(run, job: job, now: 1_001)
        let told = (pushed + drain(&mesh, until: 3_000).compactMap(\.onLink)).contains { directive in
            switch directive {
            case .send(.have(job, let entries), other): entries.contains { $0.replica == theirs }
            case .send(.delta(job, run, _), other): true
            default: false
            }
        }
        #expect(told)
    }

    @Test("Who waits for more of a journal gets what was written after all of it had been sent")
    func grownAfterItWasSent() {
        var mesh = anna(
            meeting: [link], holding: VersionVector([VersionVector.Entry(replica: own, head: segment(of: own, 1).head)])
        )
        let ask = Message.request(job: job, replica: own, from: 1, credit: 1_000, graft: false)
        let load = mesh.onMessage(ask, on: link, now: 0)
        #expect(load.contains(.stream(.load(job, own, from: 1, maximumBytes: 1_000, for: link))))
        _ = mesh.onLoaded(segment(of: own, 1), job: job, replica: own, asked: 1, for: link, now: 0)
        let credit = Message.credit(job: job, replica: own, bytes: 500)
        #expect(mesh.onMessage(credit, on: link, now: 1) == [], "there is no more")

        // The peer hears of the second before it has stored the first, and then counts on the stream.
        _ = mesh.onMessage(.prune(job: job), on: link, now: 2)
        _ = mesh.onCommitted(segment(of: own, 2), job: job, now: 2)
        #expect(
            mesh.onMessage(credit, on: link, now: 3)
                == [.stream(.load(job, own, from: 2, maximumBytes: 32 << 10, for: link))],
            "with room for more than one row")
    }

    @Test("What is pushed grows with what is acknowledged, and begins at one on a link that was grafted")
    func pushWindow() {
        var mesh = anna(meeting: [link])
        var sequence: UInt64 = 0
        func commit(_ count: Int) -> Int {
            var pushed = 0
            for _ in 0..<count {
                sequence += 1
                let directives = mesh.onCommitted(segment(of: own, sequence), job: job, now: 1)
                if case .send(.delta(job, _, true), link)? = directives.first { pushed += 1 }
                #expect(directives.count <= 1 && (directives.isEmpty || pushed > 0), "what has no room is told later")
            }
            return pushed
        }
        func acknowledge() {
            let all = VersionVector.Entry(replica: own, head: segment(of: own, sequence).head)
            _ = mesh.onMessage(.have(job: job, [all]), on: link, now: 1)
        }
        #expect(commit(10) == 8)
        acknowledge()
        #expect(commit(20) == 16)
        acknowledge()
        _ = mesh.onMessage(.prune(job: job), on: link, now: 1)
        #expect(commit(2) == 0)
        acknowledge()
        let graft = Message.request(job: job, replica: ReplicaID(3), from: 1, credit: 1_000, graft: true)
        _ = mesh.onMessage(graft, on: link, now: 1)
        #expect(commit(3) == 1)
        acknowledge()
        #expect(commit(3) == 2)
    }

    @Test("What another peer has announced is asked of it when the link closes over which it was coming")
    func announcedElsewhere() {
        var mesh = anna(meeting: [link, other])
        _ = mesh.onMessage(.prune(job: job), on: other, now: 0)
        let two = VersionVector.Entry(replica: theirs, head: segment(of: theirs, 2).head)
        _ = mesh.onMessage(.have(job: job, [two]), on: other, now: 1)
        let first = segment(of: theirs, 1)
        _ = mesh.onMessage(.delta(job: job, first, pushed: true), on: link, now: 2)
        _ = mesh.onPersisted(first, job: job, from: link, result: .stored, now: 3)
        let asked = mesh.onLinkClosed(link, now: 4).compactMap(\.onLink).contains { sent in
            guard case .send(.request(job, theirs, 2, _, _), other) = sent else { return false }
            return true
        }
        #expect(asked)
    }

    @Test("Of a peer in the tree that only announces it is asked to push from now on")
    func treeOnOneSideOnly() {
        var mesh = anna(meeting: [link])
        let news = VersionVector.Entry(replica: theirs, head: segment(of: theirs, 1).head)
        let asked = mesh.onMessage(.have(job: job, [news]), on: link, now: 1).compactMap(\.onLink).contains { sent in
            guard case .send(.request(job, theirs, 1, _, let graft), link) = sent else { return false }
            return graft
        }
        #expect(asked)
    }

    @Test("A peer that takes back what it had acknowledged, while more is on its way to it, does no harm")
    func holdsLessThanBefore() {
        var mesh = anna(meeting: [link])
        for sequence in 1...3 as ClosedRange<UInt64> {
            _ = mesh.onCommitted(segment(of: own, sequence), job: job, now: sequence)
        }
        let two = VersionVector.Entry(replica: own, head: segment(of: own, 2).head)
        _ = mesh.onMessage(.have(job: job, [two]), on: link, now: 4)
        // Its copy of the journal was cut: of three that were sent it holds none.
        _ = mesh.onMessage(.vector(job: job, VersionVector(), end: nil), on: link, now: 5)
        let asked = Message.request(job: job, replica: own, from: 1, credit: 1_000, graft: false)
        #expect(
            mesh.onMessage(asked, on: link, now: 6)
                == [.stream(.load(job, own, from: 1, maximumBytes: 1_000, for: link))])
    }

    /// A laptop that has met these peers; of the job they hold nothing.
    private func anna(meeting links: [LinkID], holding vector: VersionVector = VersionVector()) -> Mesh {
        var mesh = Mesh(
            device: DeviceID(high: 0, low: 1), replica: own, instance: 1, name: "anna",
            jobs: vector.entries.isEmpty ? [] : [(job, vector)])
        for link in links {
            mesh.meet(DeviceID(high: 0, low: 1 + UInt128(link.number)), on: link)
            _ = mesh.onMessage(.have(job: job, []), on: link, now: 0)
        }
        return mesh
    }

    private func segment(of replica: ReplicaID, _ sequence: UInt64) -> JournalSegment {
        JournalSegment(
            replica: replica, first: sequence, head: JournalHead(sequence: sequence, digest: JournalDigest(sequence)),
            bytes: [0])
    }

    /// Lets time pass, and returns what the mesh wanted meanwhile.
    private func drain(_ mesh: inout Mesh, until end: UInt64) -> [UpkeepDirective] {
        var directives: [UpkeepDirective] = []
        while let next = mesh.nextDeadline, next <= end { directives += mesh.onTimer(now: next) }
        return directives
    }
}
