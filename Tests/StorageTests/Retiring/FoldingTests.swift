import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Forgetting tombstones", .timeLimit(.minutes(2)))
struct FoldingTests {
    @Test("Once everybody holds a tombstone it goes, and the journals under it shrink")
    func folding() async throws {
        let crew = try Crew(3)
        for item in 1...60 as ClosedRange<UInt128> {
            try await crew.put(crew.stores[0], item, "chair \(item), oak, one leg loose, seat worn through")
        }
        _ = try await crew.settle()
        for item in 1...40 as ClosedRange<UInt128> { try await crew.put(crew.stores[1], item, "den", field: "room") }
        for item in 1...40 as ClosedRange<UInt128> { try await crew.remove(crew.stores[Int(item % 3)], item) }
        for from in crew.stores { for to in crew.stores where from !== to { try await Crew.send(from, to) } }
        let before = try await crew.stores[0].journalBytes()
        #expect(try await crew.stores[0].tombstones().count == 40)
        let statements = try await crew.settle()
        #expect((1...12).contains(statements), "\(statements) statements")
        for store in crew.stores {
            #expect(try await store.tombstones().isEmpty)
            #expect(try await store.live() == (41...60).map { ItemID($0) })
            #expect(try await store.job(Store.job).removed == 0)
            #expect(try await store.job(Store.job).items == 20)
            #expect(try await store.exported() == crew.stores[0].exported())
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
            for entry in try await store.vector(of: Store.job).entries {
                let all = try #require(
                    try await store.segment(of: entry.replica, job: Store.job, from: 1, maximumBytes: .max))
                #expect(try JournalDigest.extend(.empty, with: all.bytes) == entry.head)
            }
        }
        let after = try await crew.stores[0].journalBytes()
        // A third of the items stays; of each other change ten bytes do, and of each other item sixteen.
        #expect(after < before * 3 / 5, "\(before) bytes before, \(after) after")
        #expect(try await crew.settle() == 0, "nothing is said when there is nothing to forget")
    }

    @Test("A tombstone stays until everybody has said to hold it, whoever would be the one to fold")
    func notEarly() async throws {
        let crew = try Crew(3)
        for item in 1...6 as ClosedRange<UInt128> { try await crew.put(crew.stores[0], item, "thing \(item)") }
        // A first round, so that everybody has said to hold what the item is made of.
        try await crew.remove(crew.stores[0], 6)
        #expect(try await crew.settle() > 0)
        let folds = try await crew.stores[0].foldCount(of: Store.job)
        let first = try #require(crew.stores.min { $0.identity.replica < $1.identity.replica })
        try await crew.remove(first, 1)
        for other in crew.stores where other !== first {
            for _ in 0..<3 { _ = try await crew.retire(first) }
            #expect(try await first.tombstones() == [ItemID(1)])
            #expect(try await first.foldCount(of: Store.job) == folds)
            // It does not know yet, and may write on the item.
            try await crew.put(other, 1, "still here")
            try await Crew.send(other, first)
        }
        _ = try await crew.settle()
        for store in crew.stores {
            #expect(try await store.live() == (2...5).map { ItemID($0) })
            #expect(try await store.tombstones().isEmpty)
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
        }
    }

    @Test("A laptop that was away keeps the tombstones where they are, until a person takes it off")
    func expelling() async throws {
        let crew = try Crew(3)
        let (anna, bert, away) = (crew.stores[0], crew.stores[1], crew.stores[2])
        for item in 1...8 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        _ = try await crew.settle()
        for item in 1...4 as ClosedRange<UInt128> { try await crew.remove(anna, item) }
        try await crew.put(away, 1, "what only I know")
        try await crew.put(away, 5, "and this")
        try await crew.put(away, 99, "a new thing")
        #expect(try await crew.settle([anna, bert]) >= 0)
        #expect(try await anna.tombstones().count == 4)
        let time = ReceiveTime.known(crew.tick())
        _ = try await anna.expel(away.identity.replica, job: Store.job, now: time)
        #expect(try await crew.settle([anna, bert]) >= 0)
        #expect(try await anna.tombstones().isEmpty)
        #expect(try await bert.tombstones().isEmpty)
        let entry = try await anna.roster(of: Store.job).first { $0.replica == away.identity.replica }
        #expect(entry?.standing == .expelled)

        // It comes back after a month.
        #expect(try await crew.settle() >= 0)
        for store in crew.stores {
            #expect(try await store.live() == (5...8).map { ItemID($0) })
            #expect(try await store.item(ItemID(5), job: Store.job)?.value(of: "name") == "thing 5")
            let late = try await store.lateChanges(of: Store.job)
            #expect(late.map(\.change.item) == [ItemID(1), ItemID(5), ItemID(99)])
            #expect(try await store.exported() == anna.exported())
        }
        #expect(try await anna.roster(of: Store.job).allSatisfy { $0.standing == .member })
        // What it writes now counts.
        try await crew.put(away, 6, "back again")
        _ = try await crew.settle()
        #expect(try await anna.item(ItemID(6), job: Store.job)?.value(of: "name") == "back again")

        let later = ReceiveTime.known(crew.tick())
        let commits = try await bert.acceptLate(
            replica: away.identity.replica, upTo: .max, job: Store.job, now: later)
        #expect(commits.count == 1)
        _ = try await crew.settle()
        for store in crew.stores {
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
            #expect(try await store.exported() == anna.exported())
            #expect(try await store.item(ItemID(5), job: Store.job)?.value(of: "name") == "and this")
            let live = try await store.items(job: Store.job, limit: .max)
            #expect(!live.contains { $0.id == ItemID(1) || $0.id == ItemID(99) })
            let named = Dictionary(
                uniqueKeysWithValues: live.compactMap { item in
                    item.state.value(of: "replaces").map { ($0, item.state.value(of: "name")) }
                })
            #expect(named[ItemID(1).description] == "what only I know")
            #expect(named[ItemID(99).description] == "a new thing")
        }
    }

    /// Two laptops that know of each other's work, one of them taken off the roster while it wrote "late" on item 1.
    private func lateWork() async throws -> (crew: Crew, anna: Store, away: Store) {
        let crew = try Crew(2)
        let (anna, away) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        _ = try await crew.settle()
        try await crew.put(away, 1, "late")
        let time = ReceiveTime.known(crew.tick())
        _ = try await anna.expel(away.identity.replica, job: Store.job, now: time)
        _ = try await crew.settle()
        return (crew, anna, away)
    }

    @Test("Late work that is accepted without a known time is stamped anew once the time is learned")
    func acceptedWithoutTime() async throws {
        let (crew, anna, away) = try await lateWork()
        let time = ReceiveTime(milliseconds: crew.tick(), isSynchronised: false)
        _ = try await anna.acceptLate(
            replica: away.identity.replica, upTo: .max, job: Store.job,
            now: time)
        let before = try #require(try await anna.item(ItemID(1), job: Store.job)?.lastWrite?.stamp)
        let learned = ReceiveTime(milliseconds: crew.now + 3_600_000, isSynchronised: true)
        let restamped = try await anna.restamp(taking: { ClockStep(milliseconds: 3_600_000, now: learned) })
        #expect(restamped.map(\.job) == [Store.job])
        let item = try #require(try await anna.item(ItemID(1), job: Store.job))
        #expect(item.value(of: "name") == "late")
        #expect(item.lastWrite?.stamp.milliseconds == before.milliseconds + 3_600_000)
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
        #expect(try await crew.settle() >= 0)
        #expect(try await away.exported() == anna.exported())
    }

    @Test("A fold that names what was written on the job's own item takes nothing of it")
    func foldOfTheJobItem() async throws {
        let crew = try Crew(1)
        let replica = ReplicaID(7)
        var bytes = ChangeCodec.encode(
            Change(
                item: .job, stamp: Stamp(milliseconds: crew.tick(), counter: 0),
                operations: [.set(field: "name", value: "Smith", replaces: [])]))
        let named = try JournalDigest.extend(.empty, with: bytes)
        let journal = Fold.Journal(replica: replica, runs: [Fold.Run(1...1, digest: named.digest)])
        let fold = Fold(
            bounds: [Position(replica: replica, sequence: 2)], members: [replica], items: [.job], journals: [journal])
        bytes += ChangeCodec.encode(
            Change(item: .job, stamp: Stamp(milliseconds: crew.tick(), counter: 0), operations: [.fold(fold)]))
        let segment = JournalSegment(
            replica: replica, first: 1, head: try JournalDigest.extend(.empty, with: bytes), bytes: bytes)
        guard case .stored = try await crew.stores[0].ingest(segment, job: Store.job, now: .anyTime) else {
            Issue.record("not stored")
            return
        }
        let newcomer = try crew.join()
        try await Crew.send(crew.stores[0], newcomer)
        for store in crew.stores {
            #expect(try await store.item(.job, job: Store.job)?.value(of: "name") == "Smith")
        }
    }

    @Test("Late work that is dropped is listed no more, and changes nothing")
    func dropping() async throws {
        let (crew, anna, away) = try await lateWork()
        #expect(try await away.lateChanges(of: Store.job).count == 1)
        let time = ReceiveTime.known(crew.tick())
        let commit = try await away.dropLate(
            replica: away.identity.replica, upTo: .max, job: Store.job, now: time)
        #expect(commit != nil)
        _ = try await crew.settle()
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
        #expect(try await anna.item(ItemID(1), job: Store.job)?.value(of: "name") == "thing")
        #expect(try await anna.exported() == away.exported())
    }

    @Test("An item that a fold names goes as a whole, whatever of it is there")
    func wholeFolds() async throws {
        let crew = try Crew(3)
        // The lowest of the roster writes the fold.
        let roster = crew.stores[..<2].sorted { $0.identity.replica < $1.identity.replica }
        let (anna, bert, away) = (roster[0], roster[1], crew.stores[2])
        try await crew.put(anna, 1, "name of anna")
        try await Crew.send(anna, bert)
        try await Crew.send(anna, away)
        try await crew.put(bert, 1, "room of bert", field: "room")
        try await crew.remove(bert, 1)
        #expect(try await crew.settle(roster) > 0)
        for store in roster {
            let replica = store.identity.replica
            let held = try await away.vector(of: Store.job)[replica].sequence
            let rest = try #require(
                try await anna.segment(of: replica, job: Store.job, from: held + 1, maximumBytes: .max))
            _ = try await away.ingest(rest, job: Store.job, now: .anyTime)
            #expect(try await away.item(ItemID(1), job: Store.job) == nil)
        }
        #expect(try await away.exported() == anna.exported())
    }

    @Test("Who holds the first half of what a fold names, and is sent stubs for the rest, folds that half too")
    func halfFolded() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        try await Crew.send(anna, bert)
        try await crew.remove(anna, 1)
        #expect(try await crew.settle([anna]) > 0)
        #expect(try await anna.changeCount(of: ItemID(1)) == 0)
        #expect(try await bert.changeCount(of: ItemID(1)) == 1)
        try await Crew.send(anna, bert)
        #expect(try await bert.changeCount(of: ItemID(1)) == 0)
        #expect(try await bert.exported() == anna.exported())
    }

    @Test("A newcomer is sent stubs and ends with the same bytes, whoever sends what")
    func newcomers() async throws {
        let crew = try Crew(3)
        for item in 1...30 as ClosedRange<UInt128> {
            try await crew.put(crew.stores[Int(item % 3)], item, "thing \(item)")
            _ = try await crew.settle(rounds: 1)
        }
        for item in 1...20 as ClosedRange<UInt128> { try await crew.remove(crew.stores[Int(item % 2)], item) }
        for from in crew.stores { for to in crew.stores where from !== to { try await Crew.send(from, to) } }
        // A copy of a laptop from before the fold, as a backup gives it, and one that never heard of anything.
        let backup = try crew.stores[2].copy()
        _ = try await crew.settle()
        let restored = try crew.join(contents: backup)
        let fresh = try crew.join()
        #expect(restored.wasCopied)
        for index in [0, 1, 2, 0, 1, 2] {
            try await Crew.send(crew.stores[index], fresh, bytes: 1, pieces: 3)
            try await Crew.send(crew.stores[2 - index], restored, bytes: 1, pieces: 2)
        }
        #expect(try await crew.settle() >= 0)
        for store in crew.stores {
            #expect(try await store.live() == (21...30).map { ItemID($0) })
            #expect(try await store.exported() == crew.stores[0].exported())
        }
    }

    @Test("A removed job is empty everywhere, takes no edits, and late work makes a job of its own")
    func removedJob() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        let name = Edit.FieldValue(field: "name", value: "Villa")
        _ = try await anna.edit(
            job: Store.job, createsJob: true, nowMilliseconds: crew.tick(), [.put(item: .job, fields: [name])])
        for item in 1...30 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        _ = try await crew.settle()
        try await crew.put(bert, 50, "written meanwhile")
        let before = try await anna.journalBytes()
        let time = ReceiveTime.known(crew.tick())
        _ = try await anna.removeJob(Store.job, now: time)
        #expect(try await anna.live().isEmpty)
        #expect(try await anna.journalBytes() < before / 2)
        await #expect(throws: StoreError.self) { try await crew.put(anna, 60, "too late") }
        _ = try await crew.settle()
        #expect(try await bert.live().isEmpty)
        #expect(try await bert.isRemoved(Store.job))
        #expect(try await anna.exported() == bert.exported())
        let text = String(decoding: try await anna.exported(), as: UTF8.self)
        #expect(text.hasPrefix(#"{"items":[],"job":"#) && text.hasSuffix(#""removed":["\#(ItemID.job)"]}"#))
        #expect(try await anna.lateChanges(of: Store.job).map(\.change.item) == [ItemID(50)])
        let later = ReceiveTime.known(crew.tick())
        let commits = try await anna.acceptLate(
            replica: bert.identity.replica, upTo: .max, job: Store.job, now: later)
        #expect(commits.count == 2)
        let rescued = try #require(commits.first { $0.job != Store.job }?.job)
        #expect(try await anna.job(rescued).properties.value(of: "name") == "Villa (late)")
        #expect(
            try await anna.items(job: rescued, limit: 9).map { $0.state.value(of: "name") } == ["written meanwhile"])
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
    }
}
