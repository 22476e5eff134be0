import CRDT
import Replication
import Simulation
import Testing
import Timekeeping

@Suite("A peer's word that this store was set back")
struct ForgedProofTests {
    private let job = JobID(ItemID(1))
    private let link = LinkID(number: 1)
    private let own = ReplicaID(1)

    private func mesh() -> Mesh {
        let head = JournalHead(sequence: 5, digest: 7)
        var mesh = Mesh(
            device: DeviceID(high: 0, low: 1), replica: own, instance: 1, name: "anna",
            jobs: [(job, VersionVector([VersionVector.Entry(replica: own, head: head)]))])
        mesh.meet(DeviceID(high: 1, low: 1), on: link)
        return mesh
    }

    private func proofs(of replica: ReplicaID) -> [Message] {
        let future = VersionVector.Entry(replica: replica, head: JournalHead(sequence: 99, digest: 1))
        let other = VersionVector.Entry(replica: replica, head: JournalHead(sequence: 5, digest: 1))
        let segment = JournalSegment(replica: replica, first: 6, head: JournalHead(sequence: 9, digest: 1), bytes: [1])
        return [
            .have(job: job, [future]), .have(job: job, [other]),
            .vector(job: job, VersionVector([future]), end: nil), .delta(job: job, segment, pushed: true),
        ]
    }

    /// A peer's message, heard by a device whose store does not hold what it says.
    private func hear(_ message: Message, now: UInt64, _ mesh: inout Mesh) -> [UpkeepDirective] {
        mesh.onMessage(message, on: link, now: now).flatMap { directive -> [UpkeepDirective] in
            switch directive {
            case .search(.checkOwnJournal(let job, let claimed, let link)):
                // Who says it is asked to show it, and does.
                guard !mesh.onOwnClaim(claimed, of: job, from: link, now: now).isEmpty else { return [] }
                let shown = JournalSegment(
                    replica: claimed.replica, first: claimed.head.sequence, head: claimed.head, bytes: [1])
                return hear(.delta(job: job, shown, pushed: false), now: now, &mesh)
            case .search(.checkProof(let job, let shown, let link)):
                let claimed = VersionVector.Entry(replica: shown.replica, head: shown.head)
                return mesh.onOwnFuture(claimed, of: job, from: link, now: now)
            case .search(let search): return [.search(search)]
            default: return []
            }
        }
    }

    private func isRenewal(_ directive: UpkeepDirective) -> Bool {
        if case .renewal(.renewReplica) = directive { true } else { false }
    }

    private func isRenewal(_ directive: MessageDirective) -> Bool {
        if case .renewDevice = directive { true } else { false }
    }

    @Test(
        "A word alone makes no new replica: who says it is asked once for what this store's key has signed",
        arguments: 0..<3)
    func wordAlone(kind: Int) {
        var mesh = mesh()
        var asked: [LinkDirective] = []
        for now in 10...100 as ClosedRange<UInt64> {
            for directive in mesh.onMessage(proofs(of: own)[kind], on: link, now: now) {
                guard case .search(.checkOwnJournal(job, let claimed, link)) = directive else { continue }
                asked += mesh.onOwnClaim(claimed, of: job, from: link, now: now)
            }
            // A whole vector is a new word.
            if kind == 2 { break }
        }
        guard case .send(.request(job, own, let from, _, graft: false), on: link)? = asked.first else {
            Issue.record("it was not asked")
            return
        }
        #expect(asked.count == 1 && from == (kind == 1 ? 5 : 99))
        #expect(mesh.renewalDue == nil)
        let forked = mesh.onMessage(.forked(job: job, replica: own), on: link, now: 200)
        #expect(!forked.contains { if case .send = $0.onLink { true } else { false } })
    }

    @Test("Whoever says so of jobs without end is not asked without end")
    func askedBounded() {
        var mesh = mesh()
        let claimed = VersionVector.Entry(replica: own, head: JournalHead(sequence: 99, digest: 1))
        let asked = (1...10_000 as ClosedRange<UInt128>).count { number in
            !mesh.onOwnClaim(claimed, of: JobID(ItemID(number)), from: link, now: 10).isEmpty
        }
        #expect((100...2_000).contains(asked))
    }

    @Test("It is believed once at once, and then not again for ten minutes, whatever comes", arguments: 0..<4)
    func forgedProof(kind: Int) {
        var mesh = mesh()
        #expect(hear(proofs(of: own)[kind], now: 10, &mesh).contains(where: isRenewal))
        var renewals = 1
        var ignored = 0
        var current = ReplicaID(1_000)
        _ = mesh.onRenewed(device: mesh.device, replica: current, now: 20)
        for now in stride(from: 1_000, to: 1_800_000, by: 1_000) as StrideTo<UInt64> {
            _ = mesh.onCommitted(
                JournalSegment(
                    replica: current, first: 1, head: JournalHead(sequence: 5, digest: 7), bytes: [1]), job: job,
                now: now)
            let directives = hear(proofs(of: current)[kind], now: now, &mesh)
            ignored += directives.count { if case .renewal(.proofIgnored) = $0 { true } else { false } }
            #expect(
                !directives.contains {
                    if case .send(.request(_, current, _, _, _), _) = $0.onLink { true } else { false }
                })
            guard directives.contains(where: isRenewal) else { continue }
            renewals += 1
            current = ReplicaID(1_000 + UInt128(renewals))
            _ = mesh.onRenewed(device: mesh.device, replica: current, now: now)
        }
        #expect((3...4).contains(renewals), "in half an hour, of 1,800 forged frames")
        #expect(ignored > 1_000)
    }

    @Test(
        "It may be true again sooner: then it is believed as soon as it may be, though nobody says it again",
        arguments: 0..<4)
    func secondProof(kind: Int) {
        var mesh = mesh()
        #expect(hear(proofs(of: own)[kind], now: 10, &mesh).contains(where: isRenewal))
        let current = ReplicaID(1_000)
        _ = mesh.onRenewed(device: mesh.device, replica: current, now: 20)
        // Its disk is copied while it runs, and the copy writes under this name before it meets anybody.
        let segment = JournalSegment(
            replica: current, first: 1, head: JournalHead(sequence: 5, digest: 7), bytes: [1])
        _ = mesh.onCommitted(segment, job: job, now: 1_000)
        let tooSoon = hear(proofs(of: current)[kind], now: 2_000, &mesh)
        #expect(!tooSoon.contains(where: isRenewal))
        #expect(tooSoon.contains { if case .renewal(.proofIgnored) = $0 { true } else { false } })
        _ = mesh.onLinkClosed(link, now: 3_000)
        #expect(renewals(of: &mesh, from: 3_000, until: 3_600_000) == [600_020])
    }

    @Test(
        "One of two copies takes another name at once, though its store was set back a moment ago; then not for ten minutes"
    )
    func copyOfSetBackStore() {
        var mesh = mesh()
        #expect(hear(proofs(of: own)[0], now: 10, &mesh).contains(where: isRenewal))
        _ = mesh.onRenewed(device: mesh.device, replica: ReplicaID(1_000), now: 20)
        var renewed: [UInt64] = []
        for now in stride(from: 1_000, to: 1_000_000, by: 1_000) as StrideTo<UInt64> {
            let link = LinkID(number: now)
            _ = mesh.onLinkOpened(link, with: JobAccess(mesh.device), isDialled: false, now: now)
            let directives = mesh.onMessage(.hello(.of(mesh.device)), on: link, now: now)
            _ = mesh.onLinkClosed(link, now: now)
            guard directives.contains(where: isRenewal) else { continue }
            renewed.append(now)
            let device = DeviceID(high: 7, low: UInt128(renewed.count))
            _ = mesh.onRenewed(device: device, replica: ReplicaID(2_000 + UInt128(now)), now: now)
        }
        #expect(renewed == [1_000, 601_000])
    }

    @Test(
        "What was durable before the mesh was told of it may come back sooner: the store is asked, and the commit goes on its way",
        arguments: 0..<4)
    func toldTooLate(kind: Int) {
        var mesh = mesh()
        // Another peer took it from the server.
        let heard = mesh.onMessage(proofs(of: own)[kind], on: link, now: 10)
        #expect(
            heard.count {
                switch $0 {
                case .search(.checkOwnJournal(job, let claimed, link)): claimed.replica == own
                case .search(.checkProof(job, let shown, link)): shown.replica == own
                default: false
                }
            } == 1)
        #expect(!heard.contains(where: isRenewal))
        #expect(
            !heard.contains { if case .send = $0.onLink { true } else { false } },
            "nothing is asked for, and no fork searched"
        )
        // The store holds it: nothing is said to the mesh.
        let segment = JournalSegment(replica: own, first: 6, head: JournalHead(sequence: 99, digest: 1), bytes: [1])
        let third = LinkID(number: 2)
        mesh.meet(DeviceID(high: 2, low: 2), on: third, now: 11)
        let told = mesh.onCommitted(segment, job: job, now: 20)
        #expect(
            told.contains { if case .send(.delta(job, segment, pushed: true), on: third) = $0 { true } else { false } })
        #expect(mesh.vector(of: job)[own] == segment.head)
        #expect(renewals(of: &mesh, from: 20, until: 3_600_000).isEmpty)
    }

    @Test("An answer of the store that comes when it has another name already is about the old one", arguments: 0..<4)
    func answeredTooLate(kind: Int) throws {
        var mesh = mesh()
        let heard = mesh.onMessage(proofs(of: own)[kind], on: link, now: 10)
        let claimed = try #require(
            heard.compactMap { directive -> VersionVector.Entry? in
                switch directive {
                case .search(.checkOwnJournal(_, let claimed, _)): claimed
                case .search(.checkProof(_, let shown, _)):
                    VersionVector.Entry(replica: shown.replica, head: shown.head)
                default: nil
                }
            }.first)
        #expect(mesh.onOwnFuture(claimed, of: job, from: link, now: 11).contains(where: isRenewal))
        _ = mesh.onRenewed(device: mesh.device, replica: ReplicaID(1_000), now: 20)
        let segment = JournalSegment(replica: own, first: 1, head: claimed.head, bytes: [1])
        #expect(mesh.onOwnFuture(claimed, of: job, from: link, now: 21).isEmpty)
        #expect(mesh.onOwnFutureRemoved(link, of: own, now: 21) == nil)
        #expect(
            !mesh.onPersisted(segment, job: job, from: link, result: .ownFuture(of: own), now: 21)
                .contains(where: isRenewal))
        #expect(mesh.renewalDue == nil, "nor later")
    }

    @Test("A proof that comes while the device gets another name is not forgotten when that fails")
    func proofMeanwhile() {
        var mesh = mesh()
        let copy = LinkID(number: 2)
        _ = mesh.onLinkOpened(copy, with: JobAccess(mesh.device), isDialled: false, now: 5)
        #expect(mesh.onMessage(.hello(.of(mesh.device)), on: copy, now: 5).contains(where: isRenewal))
        #expect(!hear(proofs(of: own)[0], now: 10, &mesh).contains(where: isRenewal), "one is under way")
        mesh.onRenewalFailed(now: 20)
        #expect(renewals(of: &mesh, from: 20, until: 3_600_000) == [5_020])
    }

    @Test("A store that could not become a new replica tries again by itself")
    func failedRenewal() {
        var mesh = mesh()
        #expect(hear(proofs(of: own)[0], now: 10, &mesh).contains(where: isRenewal))
        _ = mesh.onLinkClosed(link, now: 20)
        mesh.onRenewalFailed(now: 30)
        #expect(renewals(of: &mesh, from: 30, until: 3_600_000) == [5_030])
    }

    /// Calls the mesh when it wants to be called, and does what it wants done.
    private func renewals(of mesh: inout Mesh, from start: UInt64, until end: UInt64) -> [UInt64] {
        var now = start
        var renewals: [UInt64] = []
        while let due = mesh.nextDeadline, due < end {
            now = max(now, due)
            guard mesh.onTimer(now: now).contains(where: isRenewal) else { continue }
            renewals.append(now)
            _ = mesh.onRenewed(device: mesh.device, replica: ReplicaID(UInt128(now)), now: now)
        }
        return renewals
    }

    @Test("A stranger who greets as this very device makes it a new device once")
    func forgedDevice() {
        var mesh = mesh()
        var renewals = 0
        for number in 2...100 as ClosedRange<UInt64> {
            let stranger = LinkID(number: number)
            _ = mesh.onLinkOpened(stranger, with: JobAccess(mesh.device), isDialled: false, now: number * 1_000)
            let hello = Hello(
                minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
                device: mesh.device, instance: number + 50, name: "eve")
            let directives = mesh.onMessage(.hello(hello), on: stranger, now: number * 1_000)
            #expect(directives.contains { if case .close(stranger, _) = $0.onLink { true } else { false } })
            guard directives.contains(where: isRenewal) else { continue }
            renewals += 1
            _ = mesh.onRenewed(
                device: DeviceID(high: 0, low: UInt128(number)), replica: ReplicaID(UInt128(number)),
                now: number * 1_000)
        }
        #expect(renewals == 1)
    }
}
