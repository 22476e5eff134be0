import CRDT
import Replication
import Simulation
import Testing

@Suite("A run that the store does not take")
struct RefusedRunTests {
    private let job = JobID(ItemID(1))
    private let link = LinkID(number: 1)
    private let outsider = ReplicaID(7)
    private let other = ReplicaID(8)

    private func entry(_ replica: ReplicaID) -> VersionVector.Entry {
        VersionVector.Entry(replica: replica, head: JournalHead(sequence: 4, digest: 9))
    }

    /// Which journals are asked for.
    private func asked(_ directives: [some LinkDirecting]) -> [ReplicaID] {
        directives.compactMap {
            if case .send(.request(_, let replica, _, _, _), _) = $0.onLink { replica } else { nil }
        }
    }

    private func run(of replica: ReplicaID) -> JournalSegment {
        JournalSegment(replica: replica, first: 1, head: entry(replica).head, bytes: [1, 2, 3, 4])
    }

    @Test(
        "Of a journal that nobody vouches for nothing more is asked, and of the others all, until the peer tells of it anew"
    )
    func unvouched() {
        var mesh = Mesh(device: DeviceID(high: 0, low: 1), replica: ReplicaID(1), instance: 1, name: "anna", jobs: [])
        mesh.meet(DeviceID(high: 1, low: 1), on: link)
        let vector = Message.vector(job: job, VersionVector([entry(outsider), entry(other)]), end: nil)
        #expect(asked(mesh.onMessage(vector, on: link, now: 10)) == [outsider, other])
        for replica in [outsider, other] {
            _ = mesh.onMessage(.delta(job: job, run(of: replica), pushed: false), on: link, now: 11)
        }
        let refused = mesh.onPersisted(run(of: outsider), job: job, from: link, result: .unvouched, now: 12)
        #expect(asked(refused).isEmpty)
        #expect(!refused.contains { if case .close = $0.onLink { true } else { false } })
        let stored = mesh.onPersisted(run(of: other), job: job, from: link, result: .stored, now: 13)
        #expect(asked(stored).isEmpty && mesh.vector(of: job)[other].sequence == 4)
        #expect(mesh.vector(of: job)[outsider] == .empty)
        #expect(asked(mesh.onMessage(vector, on: link, now: 20)) == [outsider])
    }

    @Test("Who passes on what its author has not signed is cut off, and others are asked instead")
    func forged() {
        var mesh = Mesh(device: DeviceID(high: 0, low: 1), replica: ReplicaID(1), instance: 1, name: "anna", jobs: [])
        let second = LinkID(number: 2)
        mesh.meet(DeviceID(high: 1, low: 1), on: link)
        mesh.meet(DeviceID(high: 2, low: 1), on: second)
        for peer in [link, second] {
            _ = mesh.onMessage(
                .vector(job: job, VersionVector([entry(other)]), end: nil), on: peer, now: 10)
        }
        _ = mesh.onMessage(.delta(job: job, run(of: other), pushed: false), on: link, now: 11)
        let refused = mesh.onPersisted(run(of: other), job: job, from: link, result: .forged("No."), now: 12)
        #expect(refused.contains { if case .close(link, reason: "No.") = $0.onLink { true } else { false } })
        #expect(asked(mesh.onLinkClosed(link, now: 13)) == [other])
    }

    private func notes(_ directives: [UpkeepDirective]) -> [UpkeepDirective] {
        directives.filter { if case .search(.noteAltered) = $0 { true } else { false } }
    }

    private func isClosed(_ directives: [some LinkDirecting]) -> Bool {
        directives.contains { if case .close(link, _) = $0.onLink { true } else { false } }
    }

    /// Anna, and what becomes of a run that does not lead where its author has signed.
    private func altered(holding held: [VersionVector.Entry]) -> (mesh: Mesh, directives: [UpkeepDirective]) {
        var mesh = Mesh(
            device: DeviceID(high: 0, low: 1), replica: ReplicaID(1), instance: 1, name: "anna",
            jobs: [(job, VersionVector(held))])
        mesh.meet(DeviceID(high: 1, low: 1), on: link)
        _ = mesh.onMessage(.vector(job: job, VersionVector([entry(other)]), end: nil), on: link, now: 10)
        let held = mesh.vector(of: job)[other]
        let run = JournalSegment(
            replica: other, first: held.sequence + 1, head: entry(other).head, bytes: [1, 2, 3, 4])
        _ = mesh.onMessage(.delta(job: job, run, pushed: false), on: link, now: 11)
        let directives = mesh.onPersisted(run, job: job, from: link, result: .forked(held), now: 12)
        return (mesh, directives)
    }

    @Test("Whoever alters a journal from its beginning on is named and cut off at once")
    func alteredFromTheBeginning() {
        let (_, directives) = altered(holding: [entry(outsider)])
        #expect(notes(directives) == [.search(.noteAltered(job, by: link))] && isClosed(directives))
    }

    @Test(
        "Whoever alters what follows on what both hold is named when that is found, and cut off if it does not answer")
    func alteredLater() {
        let common = JournalHead(sequence: 1, digest: 5)
        var (mesh, directives) = altered(holding: [VersionVector.Entry(replica: other, head: common)])
        #expect(notes(directives).isEmpty && !isClosed(directives), "it may be an honest fork")
        let answer = ProbeAnswer(sequence: 1, boundary: common, changeHash: 3)
        var silent = mesh
        _ = silent.onLookedUp(answer, job: job, replica: other, now: 13)
        // Long before its silence ends the connection.
        let late = silent.onTimer(now: 12 + MeshTiming().searchStepTimeout)
        #expect(notes(late).isEmpty && isClosed(late))
        for round in 1...2 as ClosedRange<UInt64> {
            let now = 20 * round
            _ = mesh.onLookedUp(answer, job: job, replica: other, now: now)
            let found = mesh.onMessage(.probeAnswer(job: job, replica: other, answer), on: link, now: now + 1)
            let isNamed = found.contains {
                if case .search(.noteAltered(job, by: link)) = $0 { true } else { false }
            }
            #expect(isNamed == (round == 2) && isClosed(found) == (round == 2), "it may have swapped its branch once")
            // It is asked again, and shows the same.
            #expect(round == 2 || asked(found) == [other])
            let run = JournalSegment(replica: other, first: 2, head: entry(other).head, bytes: [1, 2, 3, 4])
            _ = mesh.onMessage(.delta(job: job, run, pushed: false), on: link, now: now + 2)
            _ = mesh.onPersisted(run, job: job, from: link, result: .forked(common), now: now + 3)
        }
    }

    @Test("Who has said anew what it holds since its run came may have swapped its branch, and is not named")
    func swappedMeanwhile() {
        let common = JournalHead(sequence: 1, digest: 5)
        var (mesh, _) = altered(holding: [VersionVector.Entry(replica: other, head: common)])
        let swapped = VersionVector([
            VersionVector.Entry(replica: other, head: JournalHead(sequence: 4, digest: 8))
        ])
        _ = mesh.onMessage(.vector(job: job, swapped, end: nil), on: link, now: 12)
        let answer = ProbeAnswer(sequence: 1, boundary: common, changeHash: 3)
        _ = mesh.onLookedUp(answer, job: job, replica: other, now: 13)
        let found = mesh.onMessage(.probeAnswer(job: job, replica: other, answer), on: link, now: 14)
        #expect(!found.contains { if case .search(.noteAltered) = $0 { true } else { false } })
        #expect(!isClosed(found))
    }
}
