import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("The end of a job", .timeLimit(.minutes(1)))
struct RemovalTests {
    @Test("What its remover held goes everywhere, its id and its name stay, and nothing more is written in it")
    func removal() async throws {
        let crew = try Crew(3)
        let (anna, bert, late) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 0, "Elm Street", field: JobProperty.name)
        for item in 1...900 as ClosedRange<UInt128> {
            try await crew.put(item % 2 == 0 ? anna : bert, item, "thing \(item)")
        }
        try await crew.exchange([anna, bert])
        _ = try await crew.end(anna)
        try await crew.exchange([anna, bert])
        // Somebody who never had the job hears of it from somebody who has forgotten it.
        for store in [anna, bert] { #expect(try await crew.free(store) > 2, "in more than one step") }
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await store.isRemoved(Store.job))
            #expect(try await store.removal(of: Store.job)?.name == "Elm Street")
            #expect(try await store.live().isEmpty)
            #expect(try await store.job(Store.job).items == 0)
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
            #expect(try await store.vector(of: Store.job) == anna.vector(of: Store.job))
            #expect(try await store.exported() == anna.exported())
            #expect(try await store.journalBytes(from: .removal) < 200, "only the word of it is left")
            await #expect(throws: StoreError.self) { try await crew.put(store, 5, "again") }
        }
        #expect(try await late.integrityProblems() == [])
    }

    @Test("Freeing goes on after a restart, and disturbs no other job")
    func freeing() async throws {
        let place = try Place()
        let store = try await place.open()
        for item in 1...700 as ClosedRange<UInt128> { try await store.put(item, "barcode", "\(item)") }
        _ = try await store.removeJob(Store.job, now: .known(2_000))
        #expect(try await store.freeStep())
        try store.close()
        let again = try await place.open()
        let other = JobID(ItemID(78))
        let edit = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Sofa")])
        for _ in 0..<3 {
            _ = try await again.edit(job: other, createsJob: true, nowMilliseconds: 3_000, [edit])
            #expect(try await again.freeStep())
        }
        while try await again.freeStep() {}
        #expect(try await again.items(job: other, limit: .max).map(\.id) == [ItemID(1)])
        #expect(try await again.rowCounts() == ["barcode": 0, "item": 3, "segment": 4], "the jobs' own, too")
    }

    @Test("What its remover had not seen is late on every laptop, and a person names what is taken over or dropped")
    func late() async throws {
        let crew = try Crew(3)
        let (anna, bert, carl) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 1, "Sofa")
        try await crew.exchange()
        try await crew.put(bert, 1, "Red sofa")
        try await crew.put(bert, 2, "Lamp")
        try await crew.put(bert, 3, "Table")
        _ = try await crew.end(anna)
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1), ItemID(2), ItemID(3)])
            #expect(try await store.lateChanges(of: Store.job).allSatisfy { $0.author == bert.identity.replica })
            #expect(try await store.live().isEmpty, "and nothing of it is applied")
        }
        let shown = try await carl.lateChanges(of: Store.job)
        // Something more comes while carl decides about what he has seen.
        let commits = try await crew.accept(carl, [shown[1].dot])
        _ = try await crew.drop(anna, [shown[0].dot])
        let rescued = try #require(commits.first { $0.job != Store.job }?.job)
        #expect(try await carl.items(job: rescued, limit: .max).map(\.id) == [ItemID(2)])
        #expect(try await carl.job(rescued).properties.value(of: JobProperty.name)?.hasSuffix("(late)") == true)
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(3)])
            #expect(try await store.exported() == anna.exported())
        }
        // Who takes over what is settled already hears so, and nothing changes.
        let before = try await anna.vector(of: Store.job)
        await #expect(throws: StoreError.self) {
            _ = try await crew.accept(anna, [shown[1].dot, shown[2].dot])
        }
        #expect(try await anna.vector(of: Store.job) == before)
    }

    @Test("Of two removals that knew different amounts, nothing beyond both vanishes unlisted")
    func twoRemovals() async throws {
        let crew = try Crew(4)
        let (anna, bert, carl, dora) = (crew.stores[0], crew.stores[1], crew.stores[2], crew.stores[3])
        try await crew.put(carl, 1, "one")
        try await crew.exchange()
        try await crew.put(carl, 2, "two")
        try await crew.send(carl, bert)
        for item in 3...5 as ClosedRange<UInt128> { try await crew.put(carl, item, "more") }
        _ = try await crew.end(anna)
        _ = try await crew.end(bert)
        // Dora hears of the one that knew less first, carl of the other.
        try await crew.send(anna, dora)
        try await crew.send(bert, carl)
        try await crew.exchange()
        for store in crew.stores {
            let late = try await store.lateChanges(of: Store.job)
            #expect(late.map(\.change.item) == [ItemID(3), ItemID(4), ItemID(5)])
            #expect(try await store.vector(of: Store.job) == anna.vector(of: Store.job))
        }
        let last = try await anna.lateChanges(of: Store.job)[2].dot
        _ = try await crew.accept(anna, [last])
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(3), ItemID(4)])
        }
    }

    @Test("Two who take over the same work make one job of it, with one item and one remark")
    func acceptedTwice() async throws {
        let crew = try Crew(3)
        let (anna, bert, carl) = (crew.stores[0], crew.stores[1], crew.stores[2])
        try await crew.put(anna, 1, "Sofa")
        try await crew.exchange()
        _ = try await bert.edit(
            job: Store.job, nowMilliseconds: crew.tick(), [.note(item: ItemID(1), text: "scratched")])
        _ = try await crew.end(anna)
        try await crew.exchange()
        let dots = try await anna.lateChanges(of: Store.job).map(\.dot)
        let rescued = try #require(
            try await crew.accept(anna, dots).first { $0.job != Store.job })
        let again = try #require(
            try await crew.accept(carl, dots).first { $0.job != Store.job })
        #expect(rescued.job == again.job)
        _ = try await anna.ingest(again.segment, job: again.job, now: .anyTime)
        let state = try #require(try await anna.item(ItemID(1), job: again.job))
        #expect(state.remarks.map(\.text) == ["scratched"])
        #expect(state.remarks.map(\.write.author) == [bert.identity.replica])
        #expect(try await anna.job(again.job).conflicts == 0)
    }

    @Test("Another branch of a journal than its remover knew is listed, and its own store becomes a new replica")
    func branch() async throws {
        var generator = SeededGenerator(seed: 3)
        let crew = try Crew(1)
        let (original, clone) = try Store.twins(using: &generator)
        try await original.put(1, "name", "Sofa", now: 1_000)
        let copy = try original.clone(using: &generator)
        try await original.put(2, "name", "Lamp", now: 2_000)
        try await original.put(3, "name", "Table", now: 3_000)
        try await copy.put(4, "name", "Chair", now: 2_500)
        let anna = crew.stores[0]
        try await Crew.send(original, anna)
        let removal = try await anna.removeJob(Store.job, now: .known(5_000)).outcome.removal
        let outcome = try await copy.takeRemoval(removal, of: Store.job, now: .known(6_000), using: &generator)
        #expect(copy.identity.replica != original.identity.replica)
        #expect(outcome.reissued != nil)
        #expect(try await copy.lateChanges(of: Store.job).map(\.change.item).contains(ItemID(4)))
        #expect(try await copy.lateChanges(of: Store.job).allSatisfy { $0.author == original.identity.replica })
        _ = clone
    }

    @Test("Who takes over late work without knowing the time leaves it its author's stamps when the time is learned")
    func rescuedBeforeTimeIsKnown() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "Sofa")
        try await crew.exchange()
        try await crew.put(anna, 2, "Lamp")
        _ = try await crew.end(bert)
        try await crew.exchange()
        let late = try #require(try await bert.lateChanges(of: Store.job).first)
        let unknown = ReceiveTime(milliseconds: crew.tick(), isSynchronised: false)
        let rescued = try #require(
            try await bert.acceptLate([late.dot], of: Store.job, now: unknown).first { $0.job != Store.job })
        let hour: Int64 = 3_600_000
        let step = ClockStep(milliseconds: hour, now: .known(crew.tick() + UInt64(hour)))
        let moved = try await bert.restamp(taking: { TakenStep(step) })
        #expect(moved.contains { $0.job == rescued.job }, "what bert says himself there is stamped anew")
        let lamp = try #require(try await bert.item(ItemID(2), job: rescued.job)?.lastWrite)
        #expect(lamp == late.change.write(in: late.dot.replica))
    }

    @Test("What a person decided about a late change says nothing of another that takes its place in the journal")
    func decidedBeforeFork() async throws {
        var generator = SeededGenerator(seed: 4)
        let anna = try Crew(1).stores[0]
        let (original, _) = try Store.twins(using: &generator)
        try await original.put(1, "name", "Sofa", now: 1_000)
        let copy = try original.clone(using: &generator)
        try await Crew.send(original, anna)
        let removal = try await anna.removeJob(Store.job, now: .known(5_000)).outcome.removal
        try await original.put(2, "name", "Lamp", now: 6_000)
        try await copy.put(4, "name", "Chair", now: 6_500)
        let lamp = try await original.segmentAfter(removal)
        let chair = try await copy.segmentAfter(removal)
        _ = try await original.takeRemoval(removal, of: Store.job, now: .known(7_000), using: &generator)
        let shown = try await original.lateChanges(of: Store.job)
        #expect(shown.map(\.change.item) == [ItemID(2)])
        let decision = try #require(try await original.dropLate(shown.map(\.dot), of: Store.job, now: .known(8_000)))
        for run in [lamp, decision.segment] { _ = try await anna.ingest(run, job: Store.job, now: .known(8_500)) }
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
        // The copy's branch stays: its chair comes to stand where the lamp stood.
        for store in [original, anna] {
            let adopted = try await store.adoptBranch(
                chair, job: Store.job, after: chair.first - 1, now: .known(9_000), using: &generator)
            #expect(adopted.head == chair.head)
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(4)])
        }
    }

    @Test("A job of 300 replicas can be removed, and a laptop that relays one writes nothing into it")
    func manyReplicas() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for replica in 1...300 as ClosedRange<UInt128> {
            let bytes = ChangeCodec.encode(
                Change(
                    item: ItemID(replica), stamp: Stamp(milliseconds: 1_000, counter: 0),
                    operations: [.set(field: "name", value: "thing", replaces: [])]))
            let run = try TestAuthor(UInt64(replica)).segment(bytes, of: Store.job)
            _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        }
        try await crew.exchange()
        #expect(try await bert.vector(of: Store.job).entries.count == 300)
        _ = try await crew.end(anna)
        try await crew.exchange()
        #expect(try await bert.live().isEmpty)
        #expect(try await bert.vector(of: Store.job).entries.count == 301, "and the remover's word")
    }
}

extension Store {
    enum Start { case removal }

    /// Bytes of what is left in the journals of a removed job.
    func journalBytes(from start: Start) async throws -> Int {
        let removal = try await removal(of: Self.job)
        var bytes = 0
        for entry in try await vector(of: Self.job).entries {
            let first = (removal?.heads[entry.replica].sequence ?? 0) + 1
            bytes +=
                try await segment(of: entry.replica, job: Self.job, from: first, maximumBytes: .max)?.bytes.count ?? 0
        }
        return bytes
    }
}

extension Store {
    /// What this store wrote itself beyond a removal.
    fileprivate func segmentAfter(_ removal: JobRemoval) async throws -> JournalSegment {
        let first = removal.heads[identity.replica].sequence + 1
        return try #require(
            try await segment(of: identity.replica, job: Store.job, from: first, maximumBytes: 1 << 20))
    }
}
