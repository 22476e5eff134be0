import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("A branch that is given up after its store has become somebody else", .timeLimit(.minutes(1)))
struct ReissuedAfterHoldTests {
    @Test("Its work is written again, though the new replica has said already what it holds")
    func reissued() async throws {
        var generator = SeededGenerator(seed: 3)
        let (anna, clone) = try Store.twins(using: &generator)
        let forked = anna.identity.replica
        _ = try await anna.put(1, "name", "e1")
        _ = try await clone.put(5, "barcode", "e2")
        _ = try await clone.renewDevice(using: &generator)
        _ = try await clone.retire(job: Store.job, now: .known(5_000))
        _ = try await clone.put(7, "name", "e3", now: 6_000)
        _ = try await clone.retire(job: Store.job, now: .known(9_000))
        let branch = try await anna.whole(forked)
        let adopted = try await clone.adoptBranch(
            branch, job: Store.job, after: 0, now: .known(10_000), using: &generator)
        #expect(adopted.reissued != nil)
        #expect(try await clone.item(ItemID(5), job: Store.job)?.value(of: "barcode") == "e2")
        #expect(try await clone.item(ItemID(1), job: Store.job)?.value(of: "name") == "e1")
        #expect(try await clone.timeline(of: Store.job, item: ItemID(5)).count == 1)
    }

    @Test("What was late on it is late again, though the new replica knows by now what the cut is about")
    func late() async throws {
        let crew = try Crew(1)
        let bert = crew.stores[0]
        let (anna, clone) = try Store.twins(using: &crew.generator)
        let forked = anna.identity.replica
        // Bert is alone on the roster, and forgets what he removed.
        try await crew.put(bert, 4, "thing")
        try await crew.remove(bert, 4)
        #expect(try await crew.settle() > 0)
        try await crew.put(anna, 1, "e1")
        try await crew.put(clone, 5, "e2")
        _ = try await clone.renewDevice(using: &crew.generator)
        try await Crew.send(bert, clone)
        #expect(try await clone.lateChanges(of: Store.job).map(\.change.item) == [ItemID(5)])
        _ = try await crew.retire(clone)
        let branch = try await anna.whole(forked)
        _ = try await clone.adoptBranch(
            branch, job: Store.job, after: 0, now: .anyTime, using: &crew.generator)
        let late = try await clone.lateChanges(of: Store.job)
        #expect(Set(late.map(\.change.item)) == [ItemID(1), ItemID(5)])
        #expect(late.allSatisfy { $0.author == forked })
        #expect(try await clone.live().isEmpty)
        // It counts as a member again, and so does what it writes.
        try await crew.put(clone, 6, "e3")
        try await Crew.send(clone, bert)
        #expect(try await bert.live() == [ItemID(6)])
        #expect(try await bert.exported() == clone.exported())
        #expect(try await bert.lateChanges(of: Store.job).count == 2)
        let later = ReceiveTime.known(crew.tick())
        _ = try await bert.acceptLate(replica: clone.identity.replica, upTo: .max, job: Store.job, now: later)
        #expect(try await bert.items(job: Store.job, limit: 9).contains { $0.state.value(of: "name") == "e2" })
    }

    @Test("Work that a store stamped anew again after it was set back is one work, not two")
    func stampedAnewTwice() async throws {
        var generator = SeededGenerator(seed: 6)
        let (anna, _) = try Store.twins(using: &generator)
        let note = Edit.note(item: ItemID(1), text: "scratched")
        _ = try await anna.edit(
            job: Store.job, createsJob: true, nowMilliseconds: 1_000, isSynchronised: false, [note])
        let setBack = try anna.clone(using: &generator)
        for (store, step) in [(anna, 5_000), (setBack, 7_000)] as [(Store, Int64)] {
            let learned = ClockStep(milliseconds: step, now: .known(20_000))
            #expect(try await store.restamp(taking: { learned }).count == 1)
        }
        _ = try await setBack.put(2, "name", "e2", now: 21_000)
        let adopted = try await setBack.adoptBranch(
            try await anna.whole(), job: Store.job, after: 0, now: .known(22_000), using: &generator)
        #expect(adopted.reissued != nil)
        #expect(try await setBack.item(ItemID(1), job: Store.job)?.remarks.map(\.text) == ["scratched"])
        #expect(try await setBack.item(ItemID(2), job: Store.job)?.value(of: "name") == "e2")
    }

    @Test("What lies in the future waits on both branches, and comes when it is due")
    func future() async throws {
        var generator = SeededGenerator(seed: 5)
        let (anna, clone) = try Store.twins(using: &generator)
        let hour: UInt64 = 3_600_000
        _ = try await anna.put(1, "name", "e1", now: 9 * hour)
        _ = try await clone.put(5, "name", "e2", now: 9 * hour)
        let other = try Store.openInMemory(
            place: StorePlace(machine: "another", file: "store"), hostName: "bert", generator: &generator)
        let branches = [try await anna.whole(), try await clone.whole()]
        _ = try await other.ingest(branches[1], job: Store.job, now: .known(hour))
        _ = try await other.adoptBranch(
            branches[0], job: Store.job, after: 0, now: .known(hour), using: &generator)
        #expect(try await other.live().isEmpty)
        let waiting = try await other.applyDue(now: .known(hour))
        #expect(waiting.jobs.isEmpty && waiting.nextDue == 9 * hour - 300_000)
        _ = try await other.applyDue(now: .known(9 * hour))
        #expect(try await other.live() == [ItemID(1), ItemID(5)])
    }
}
