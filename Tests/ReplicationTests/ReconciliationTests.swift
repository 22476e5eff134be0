import CRDT
import Replication
import Simulation
import Testing

@Suite("Two sides compared by identity")
struct ReconciliationTests {
    private static func vector(_ heads: (UInt128, UInt64, UInt64)...) -> VersionVector {
        VersionVector(
            heads.map {
                .init(replica: ReplicaID($0.0), head: JournalHead(sequence: $0.1, digest: JournalDigest($0.2)))
            })
    }

    @Test("Three cases, in the order of the identities, each thing once")
    func cases() {
        let pairs = reconcile(here: ["a": 1, "c": 3], server: ["c": 30, "b": 20])
        let told = pairs.map { identity, difference in
            switch difference {
            case .both(let here, let there): "\(identity) both \(here) \(there)"
            case .onlyServer(let there): "\(identity) server \(there)"
            case .onlyHere(let here): "\(identity) here \(here)"
            }
        }
        #expect(told == ["a here 1", "b server 20", "c both 3 30"])
    }

    @Test("Journals are fetched, brought, or compared from their beginning; the channel is never brought")
    func journals() {
        let here = Self.vector((0, 5, 50), (1, 10, 1), (2, 3, 2), (3, 7, 3), (4, 7, 4), (5, 2, 5))
        let server = Self.vector((0, 8, 80), (1, 10, 1), (2, 9, 2), (3, 4, 3), (4, 7, 44), (6, 1, 6))
        let plan = SyncPlan(here: here, server: server)
        #expect(plan.fetches.map(\.replica) == [0, 2, 6].map { ReplicaID($0) })
        #expect(plan.fetches.map(\.after) == [5, 3, 0])
        #expect(plan.uploads.map(\.replica) == [3, 5].map { ReplicaID($0) })
        #expect(plan.uploads.map(\.after) == [4, 0])
        #expect(plan.forks == [ReplicaID(4)])
        #expect(!plan.isServerBehind)
        #expect(SyncPlan(here: here, server: here).isEmpty)
    }

    @Test("A server that holds less of its own channel was set back, and is offered the rest")
    func setBack() {
        let here = Self.vector((0, 5, 50))
        #expect(SyncPlan(here: here, server: Self.vector((0, 4, 40))).isServerBehind)
        #expect(SyncPlan(here: here, server: VersionVector()).isServerBehind)
        #expect(SyncPlan(here: here, server: Self.vector((0, 5, 51))).isServerBehind)
        #expect(SyncPlan(here: here, server: Self.vector((0, 4, 40))).channelUpload?.after == 4)
        #expect(SyncPlan(here: here, server: VersionVector()).channelUpload?.after == 0)
        #expect(SyncPlan(here: here, server: Self.vector((0, 5, 51))).channelUpload == nil)
    }
}
