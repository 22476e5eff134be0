import CRDT
import Replication
import Simulation
import Testing
import Timekeeping

@Suite("A mesh among peers that claim too much, read too slowly or answer too late")
struct MeshBoundsTests {
    private let job = JobID(ItemID(1))
    private let link = LinkID(number: 1)
    private let second = LinkID(number: 2)

    private func mesh(vector: VersionVector = VersionVector(), links: [LinkID]) throws -> Mesh {
        var mesh = Mesh(
            device: DeviceID(high: 0, low: 1), replica: ReplicaID(1), instance: 1, name: "anna",
            jobs: vector.entries.isEmpty ? [] : [(job, vector)])
        for link in links {
            mesh.meet(DeviceID(high: 1, low: UInt128(link.number)), on: link)
        }
        return mesh
    }

    private func entry(_ replica: UInt128, _ sequence: UInt64, digest: UInt64 = 7) -> VersionVector.Entry {
        VersionVector.Entry(
            replica: ReplicaID(replica), head: JournalHead(sequence: sequence, digest: JournalDigest(digest)))
    }

    private func isClose(_ directive: some LinkDirecting) -> Bool {
        if case .close = directive.onLink { true } else { false }
    }

    @Test("A peer that claims ever more journals is refused")
    func claims() throws {
        var mesh = try mesh(links: [link])
        var refused = false
        for round in 0..<4 as Range<UInt128> where !refused {
            let entries = (1...4_096 as ClosedRange<UInt128>).map { entry(round * 10_000 + $0, 1) }
            refused = mesh.onMessage(.have(job: job, entries), on: link, now: 0).contains(where: isClose)
        }
        #expect(refused)
    }

    @Test("Sums of the largest claims do not overflow")
    func largestClaims() throws {
        var mesh = try mesh(links: [link])
        let entries = (1...8_000 as ClosedRange<UInt128>).map { entry($0 + 1, ProtocolLimits.sequence) }
        _ = mesh.onMessage(.have(job: job, entries), on: link, now: 0)
        #expect(mesh.overview().map(\.ahead) == [8_000 * ProtocolLimits.sequence])
        let segment = JournalSegment(
            replica: ReplicaID(9_999), first: 2, head: JournalHead(sequence: ProtocolLimits.sequence, digest: 1),
            bytes: [1, 2, 3])
        _ = mesh.onMessage(.delta(job: job, segment, pushed: true), on: link, now: 0)
        #expect(mesh.overview().map(\.received.all) == [3])
    }

    @Test("A peer that asks about jobs faster than they can be looked at is refused")
    func questions() throws {
        var mesh = try mesh(links: [link])
        for number in 1...UInt64(MeshLimits.reportsPerLink) {
            #expect(
                mesh.onMessage(.reportRequest(job: job, number: number), on: link, now: 0)
                    == [.report(job, number: number, to: link)])
        }
        mesh.onReportSent(to: link)
        #expect(!mesh.onMessage(.reportRequest(job: job, number: 50), on: link, now: 0).contains(where: isClose))
        #expect(mesh.onMessage(.reportRequest(job: job, number: 51), on: link, now: 0).contains(where: isClose))
    }

    @Test("A job that was made while a peer did not read is told when it reads again")
    func newJobDuringCongestion() throws {
        var mesh = try mesh(links: [link])
        _ = mesh.onCongestion(link, isCongested: true, now: 0)
        let head = JournalHead(sequence: 2, digest: 7)
        let segment = JournalSegment(replica: ReplicaID(1), first: 1, head: head, bytes: [1])
        #expect(!mesh.onCommitted(segment, job: job, now: 0).contains { isSend($0) })
        #expect(!mesh.onTimer(now: 1_000).contains { isSend($0) })
        #expect(
            mesh.onCongestion(link, isCongested: false, now: 2_000)
                == [.send(.have(job: job, [entry(1, 2)]), on: link)])
    }

    private func isSend(_ directive: some LinkDirecting) -> Bool {
        switch directive.onLink {
        case .send(.have, _), .send(.delta, _): true
        default: false
        }
    }

    @Test("A link that takes its time to close does not keep the timer busy")
    func closingLink() throws {
        var mesh = try mesh(links: [link])
        #expect(mesh.onTimer(now: 50_000).contains(where: isClose))
        #expect(try #require(mesh.nextDeadline) > 50_000)
    }

    @Test("A fork that two peers show is looked for with the second when the first goes away")
    func searchMovesOn() throws {
        var mesh = try mesh(vector: VersionVector([entry(5, 4, digest: 1)]), links: [link, second])
        let other = Message.vector(job: job, VersionVector([entry(5, 4, digest: 2)]), end: nil)
        let began = mesh.onMessage(other, on: link, now: 0)
        #expect(began.contains { $0 == .send(.forked(job: job, replica: ReplicaID(5)), on: link) })
        #expect(!mesh.onMessage(other, on: second, now: 0).contains { isProbe($0, on: second) })
        #expect(mesh.onLinkClosed(link, now: 1).contains { isProbe($0, on: second) })
    }

    @Test("A search that came to nothing, because nobody answered in time, is begun again with the same peer")
    func searchBeginsAgain() throws {
        var mesh = try mesh(vector: VersionVector([entry(5, 4, digest: 1)]), links: [link])
        let other = Message.vector(job: job, VersionVector([entry(5, 4, digest: 2)]), end: nil)
        #expect(mesh.onMessage(other, on: link, now: 0).contains { isProbe($0, on: link) })
        var probes: [UInt64] = []
        var now: UInt64 = 0
        while now < 40_000 {
            now = try #require(mesh.nextDeadline)
            if mesh.onTimer(now: now).contains(where: { isProbe($0, on: link) }) { probes.append(now) }
            // The line is slow, not dead.
            _ = mesh.onMessage(.pong(now, received: 0, answered: 0, .unsynchronised), on: link, now: now)
        }
        #expect((1...4).contains(probes.count), "again, but not all the time: \(probes)")
    }

    private func isProbe(_ directive: some LinkDirecting, on link: LinkID) -> Bool {
        if case .send(.probe, on: link) = directive.onLink { true } else { false }
    }

    @Test("An address at which a connected device was met again is left alone until that connection ends")
    func duplicateDial() {
        let address = PeerAddress(host: "127.0.0.1", port: 7473)
        let device = DeviceID(high: 0, low: 2)
        var generator = SeededGenerator(seed: 1)
        var plan = DialPlan()
        plan.onConfigured(address, now: 0)
        #expect(plan.due(now: 0, connected: []) == [address])
        plan.onRecognised(address, device: device)
        plan.onFailed(address, now: 0, using: &generator)
        #expect(plan.nextDeadline(connected: [device]) == nil)
        #expect(plan.due(now: 1_000, connected: []) == [address])
    }
}
