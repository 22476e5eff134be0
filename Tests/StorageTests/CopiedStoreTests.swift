import CRDT
import Foundation
import GRDB
import Inventory
import Replication
import Simulation
import Storage
import Testing

@Suite("Restored and cloned stores", .timeLimit(.minutes(2)))
struct CopiedStoreTests {
    @Test("A copy of the file becomes a new replica when it is opened; the original stays who it is")
    func copiesAreNewReplicas() async throws {
        let place = try Place()
        let store = try await place.open("a")
        try await store.put(1, "name", "Sofa")
        let identity = store.identity
        try store.close()
        try place.copy("a", to: "b")
        let copy = try await place.open("b")
        #expect(copy.wasCopied)
        #expect(copy.identity.replica != identity.replica)
        #expect(copy.identity.device == identity.device, "a file put back from a backup is the same laptop")
        #expect(try await place.open("a").identity == identity)
    }

    @Test("On another machine the device is another one too")
    func anotherMachine() async throws {
        let place = try Place()
        let store = try await place.open("a", machine: "one")
        let identity = store.identity
        try store.close()
        let moved = try await place.open("a", machine: "two")
        #expect(moved.wasCopied)
        #expect(moved.identity.device != identity.device && moved.identity.replica != identity.replica)
    }

    @Test("Where a machine has no id, a file put back from a backup is the same laptop all the same")
    func machineWithoutID() async throws {
        let place = try Place()
        let store = try await place.open("a", machine: "")
        let identity = store.identity
        try store.close()
        try place.copy("a", to: "b")
        let copy = try await place.open("b", machine: "")
        #expect(copy.wasCopied && copy.identity.replica != identity.replica)
        #expect(copy.identity.device == identity.device)
    }

    enum Loss: CaseIterable { case contentPutBack, hotCopyPutBack, witnessGone, crashBetween, fromBeforeWitness }

    @Test("A store whose content is put back in place is another replica at once", arguments: Loss.allCases)
    func contentPutBack(loss: Loss) async throws {
        let place = try Place()
        let store = try await place.open("a")
        try await store.put(1, "name", "before")
        let identity = store.identity
        if loss == .hotCopyPutBack { try place.copy("a", to: "backup") }
        try store.close()
        if loss != .hotCopyPutBack { try place.copy("a", to: "backup") }
        // A day's work.
        let later = try await place.open("a")
        #expect(!later.wasCopied && later.identity == identity)
        try await later.put(2, "name", "after")
        try later.close()
        let witness = place.path("a") + "-opened"
        switch loss {
        case .contentPutBack, .hotCopyPutBack: try place.overwrite("a", with: "backup", isWhole: false)
        case .witnessGone: try FileManager.default.removeItem(atPath: witness)
        case .fromBeforeWitness:
            let file = try DatabaseQueue(path: place.path("a"))
            try await file.write { try $0.execute(sql: "UPDATE store SET opening = NULL") }
            try file.close()
        case .crashBetween:
            // The witness has noted an opening, and the store has not.
            let last = try #require(try String(contentsOfFile: witness, encoding: .utf8).split(separator: "\n").last)
            try "\(last)\n4711\n".write(toFile: witness, atomically: true, encoding: .utf8)
            #expect(try await place.open("a").identity == identity)
            return
        }
        let restored = try await place.open("a")
        #expect(restored.wasCopied && restored.identity.device == identity.device)
        #expect(restored.identity.replica != identity.replica, "before it writes again")
        let renewed = restored.identity
        try restored.close()
        #expect(try await place.open("a").identity == renewed, "once")
    }

    @Test("A store set back in place forks its journal; the fork is found and settled, and nothing is lost")
    func setBackInPlace() async throws {
        let place = try Place()
        let (anna, bert) = (try await place.open("a"), try await place.open("b"))
        try await anna.put(1, "name", "before")
        try anna.close()
        try place.copy("a", to: "backup")
        let later = try await place.open("a")
        let forkedReplica = later.identity.replica
        try await later.put(1, "name", "after", now: 2_000)
        try await later.put(2, "name", "lost here", now: 2_001)
        _ = try await later.send(to: bert)
        try later.close()
        try place.overwrite("a", with: "backup")

        let restored = try await place.open("a")
        #expect(!restored.wasCopied, "all files are set back: only the peers can tell")
        #expect(restored.identity.replica == forkedReplica)
        try await restored.put(3, "name", "written after the restore", now: 3_000)
        // The proof: bert holds more of this journal, and what follows the common part differs.
        let held = try await bert.vector(of: Store.job)[forkedReplica]
        let own = try await restored.vector(of: Store.job)[forkedReplica]
        #expect(held.sequence > own.sequence && held.digest != own.digest)
        let equal = own.sequence - 1
        try #require(equal > 0)
        let branch = try #require(
            try await bert.segment(of: forkedReplica, job: Store.job, from: equal + 1, maximumBytes: .max))
        #expect(
            try await restored.ingest(branch, job: Store.job, now: .anyTime).result == .ownFuture(of: forkedReplica))

        let adopted = try await restored.adoptBranch(
            branch, job: Store.job, after: equal, now: .anyTime, using: &place.generator)
        #expect(adopted.head == held)
        #expect(restored.identity.replica != forkedReplica)
        #expect(try await restored.item(ItemID(1), job: Store.job)?.value(of: "name") == "after")
        #expect(try await restored.item(ItemID(2), job: Store.job)?.value(of: "name") == "lost here")
        #expect(try await restored.item(ItemID(3), job: Store.job)?.value(of: "name") == "written after the restore")
        let log = try await restored.timeline(of: Store.job, item: .job).rest()
        let preamble = try #require(log.first { $0.key.replica == restored.identity.replica })
        #expect(preamble.key.stamp > Stamp(milliseconds: 3_000, counter: 0), "it is no older than what it follows")
        _ = try await restored.send(to: bert)
        #expect(try await restored.exported() == bert.exported())
        // Its author is still the replica that wrote it.
        let write = try await bert.item(ItemID(3), job: Store.job)?.lastWrite
        #expect(write?.author == forkedReplica)
    }

    @Test("A claim shows its own future where it goes further than its journal, or beside it, and nowhere else")
    func ownFuture() async throws {
        let place = try Place()
        let store = try await place.open("a")
        try await store.put(1, "name", "lamp", now: 1_000)
        let first = try await store.vector(of: Store.job)[store.identity.replica]
        try await store.put(2, "name", "sofa", now: 2_000)
        let head = try await store.vector(of: Store.job)[store.identity.replica]
        func isOwnFuture(_ head: JournalHead, of replica: ReplicaID? = nil, in job: JobID = Store.job) async throws
            -> Bool
        {
            try await store.isOwnFuture(
                VersionVector.Entry(replica: replica ?? store.identity.replica, head: head), of: job)
        }
        #expect(try await !isOwnFuture(.empty))
        #expect(try await !isOwnFuture(first))
        #expect(try await !isOwnFuture(head))
        #expect(try await isOwnFuture(JournalHead(sequence: head.sequence + 1, digest: head.digest)))
        #expect(try await isOwnFuture(JournalHead(sequence: head.sequence, digest: 1)))
        #expect(try await isOwnFuture(head, in: JobID(ItemID(99))), "it knows nothing of that job")
        let former = store.identity.replica
        #expect(try await store.renewReplica(former, using: &place.generator))
        #expect(try await !isOwnFuture(JournalHead(sequence: 99, digest: 1), of: former), "it is not its own any more")
        let renewed = store.identity
        #expect(renewed.replica != former)
        #expect(try await !store.renewReplica(former, using: &place.generator), "of one doubt one new name")
        #expect(store.identity == renewed)
        _ = try await store.removeJob(Store.job, now: .anyTime)
        #expect(try await !isOwnFuture(head, of: former))
        try store.close()
    }
}
