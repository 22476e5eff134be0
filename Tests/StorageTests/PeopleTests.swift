import CRDT
import GRDB
import Inventory
import Simulation
import Storage
import Testing

@Suite("Who was at a laptop stands in its journals, once for each session", .timeLimit(.minutes(1)))
struct PeopleTests {
    private static let (ann, bob): (UInt32, UInt32) = (1_000, 1_001)

    private func begin(_ name: String, _ store: Store, as user: UInt32 = ann, since: UInt64 = 5) async throws {
        try await store.begin(
            try #require(WorkSession(name: name, since: since, drift: 12, uncertainty: nil)), of: user)
    }

    private func put(
        _ crew: Crew, _ store: Store, _ item: UInt128, _ value: String, as user: UInt32? = ann, at now: UInt64? = nil,
        isSynchronised: Bool = true
    ) async throws {
        let time = ReceiveTime(milliseconds: now ?? crew.tick(), isSynchronised: isSynchronised)
        let edit = Edit.put(item: ItemID(item), fields: [Edit.FieldValue(field: "name", value: value)])
        _ = try await store.edit(
            job: Store.job, createsJob: true, isAllOrNothing: true, now: { time }, by: Writer(user: user), [edit])
    }

    /// Every value with its person, by the places and by the stamps: both have to agree.
    private func people(_ store: Store) async throws -> [String] {
        let cursor = try await store.timeline(of: Store.job)
        let sessions = try await store.workSessions(of: Store.job)
        var lines: [String] = []
        while let page = try await cursor.next() {
            for line in page where line.entry.item != .job {
                let write = WriteStamp(stamp: line.entry.key.stamp, author: line.entry.author)
                let byStamp = sessions.person(of: write)
                #expect(byStamp == line.person, "\(line.entry.settings)")
                lines += line.entry.settings.map { "\($0.value): \(line.person ?? "nobody")" }
            }
        }
        return lines
    }

    private func length(_ store: Store) async throws -> UInt64 {
        try await store.vector(of: Store.job)[store.identity.replica].sequence
    }

    @Test("Two people one after the other are told apart everywhere, at the cost of one change each")
    func turns() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await put(crew, anna, 1, "before")
        try await begin("Ann", anna)
        let start = try await length(anna)
        for item in 2...4 { try await put(crew, anna, UInt128(item), "a\(item)") }
        #expect(try await length(anna) == start + 4)
        try await begin("Bob", anna)
        try await put(crew, anna, 1, "b")
        try await anna.endSession(of: Self.ann)
        try await put(crew, anna, 2, "c")
        try await put(crew, bert, 9, "d")
        try await crew.exchange()
        let told = ["before: nobody", "a2: Ann", "a3: Ann", "a4: Ann", "b: Bob", "c: nobody", "d: nobody"]
        for store in crew.stores { #expect(try await people(store) == told) }
        #expect(try await anna.exported() == bert.exported())
        #expect(try await bert.crewList().names == ["Ann", "Bob"], "a laptop knows the names of its jobs")
        #expect(try await bert.currentSessions().isEmpty)
    }

    @Test("Two users of one machine, in turns, are told apart; one without a session is nobody")
    func twoUsers() async throws {
        let crew = try Crew(1)
        let store = crew.stores[0]
        try await begin("Ann", store)
        try await begin("Bob", store, as: Self.bob)
        try await put(crew, store, 1, "a", as: Self.ann)
        try await put(crew, store, 1, "b", as: Self.bob)
        try await put(crew, store, 1, "c", as: 0)
        try await put(crew, store, 1, "d", as: nil)
        try await put(crew, store, 1, "e", as: Self.ann)
        #expect(try await people(store) == ["a: Ann", "b: Bob", "c: nobody", "d: nobody", "e: Ann"])
    }

    @Test("Without a session nothing is written but the edits")
    func nobody() async throws {
        let crew = try Crew(1)
        try await put(crew, crew.stores[0], 1, "a")
        // The laptop's name, and the edit.
        #expect(try await length(crew.stores[0]) == 2)
    }

    @Test("An edit that is refused says nothing of who is there")
    func refused() async throws {
        let crew = try Crew(1)
        let store = crew.stores[0]
        try await put(crew, store, 1, "a")
        try await begin("Ann", store)
        let time = ReceiveTime.known(crew.tick())
        _ = try await store.edit(
            job: Store.job, requires: .known, now: { time }, by: Writer(user: Self.ann), [.remove(item: ItemID(7))])
        #expect(try await length(store) == 2)
    }

    @Test("A restart knows who was named last, and who is there")
    func restart() async throws {
        let place = try Place()
        let crew = try Crew(0)
        var store = try await place.open()
        try await begin("Ann", store)
        try await put(crew, store, 1, "a")
        try store.close()
        store = try await place.open()
        let start = try await length(store)
        try await put(crew, store, 2, "b")
        #expect(try await length(store) == start + 1)
        #expect(try await people(store) == ["a: Ann", "b: Ann"])
        try store.close()
    }

    @Test("A copy of a store has no session, and what it writes is nobody's until somebody begins one")
    func copied() async throws {
        let place = try Place()
        let crew = try Crew(0)
        let original = try await place.open()
        try await begin("Ann", original)
        try await put(crew, original, 1, "a")
        try original.close()
        try place.copy("a", to: "b")
        let copy = try await place.open("b", machine: "another")
        #expect(copy.wasCopied)
        #expect(try await copy.currentSessions().isEmpty)
        try await put(crew, copy, 2, "b")
        try await begin("Bob", copy)
        try await put(crew, copy, 3, "c")
        #expect(try await people(copy) == ["a: Ann", "b: nobody", "c: Bob"])
        try copy.close()
    }

    @Test("What two copies of a store wrote, each by another person, keeps its people when one branch is issued again")
    func forked() async throws {
        var generator = SeededGenerator(seed: 3)
        let crew = try Crew(0)
        let (anna, twin) = try Store.twins(using: &generator)
        // Before anybody knows that they are two.
        for (store, name) in [(anna, "Ann"), (twin, "Bob")] { try await begin(name, store) }
        try await put(crew, anna, 1, "a1")
        try await put(crew, twin, 2, "b1")
        try await begin("Carl", twin)
        try await put(crew, twin, 3, "c1")
        let former = twin.identity.replica
        let time = ReceiveTime.known(crew.tick())
        let adopted = try await twin.adoptBranch(
            try await anna.whole(), job: Store.job, after: 0, now: time, using: &generator)
        #expect(adopted.reissued != nil && twin.identity.replica != former)
        try await put(crew, twin, 4, "c2")
        let sessions = try await twin.workSessions(of: Store.job)
        let cursor = try await twin.timeline(of: Store.job)
        var told: [String] = []
        while let page = try await cursor.next() {
            for line in page where line.entry.item != .job {
                told += line.entry.settings.map { "\($0.value): \(line.person ?? "nobody")" }
                let write = WriteStamp(stamp: line.entry.key.stamp, author: line.entry.author)
                let person = sessions.person(of: write)
                #expect(person == nil || person == line.person, "rather nobody than somebody else")
            }
        }
        #expect(told == ["a1: Ann", "b1: Bob", "c1: Carl", "c2: Carl"])
        let other = try Store.openInMemory(
            place: StorePlace(machine: "bert", file: "store"), hostName: "bert", signer: TestSigner(9),
            generator: &generator)
        try await Crew.send(twin, other)
        #expect(try await other.workSessions(of: Store.job) == sessions, "whoever holds the same says the same")
    }

    @Test("Work that is stamped anew keeps its people")
    func restamped() async throws {
        let crew = try Crew(1)
        let store = crew.stores[0]
        let fast = crew.tick() + 7_200_000
        try await begin("Ann", store)
        try await put(crew, store, 1, "a", at: fast, isSynchronised: false)
        try await begin("Bob", store)
        try await put(crew, store, 1, "b", at: fast + 10, isSynchronised: false)
        let now = ReceiveTime.known(fast - 7_200_000 + 20)
        #expect(try await store.restamp { TakenStep(ClockStep(milliseconds: -7_200_000, now: now)) }.count == 1)
        try await put(crew, store, 1, "c", at: now.milliseconds + 10)
        #expect(try await people(store) == ["a: Ann", "b: Bob", "c: Bob"])
    }

    @Test("After a clock that was far ahead was put right nobody is taken for somebody else")
    func clockPutRight() async throws {
        let crew = try Crew(1)
        let store = crew.stores[0]
        let now = crew.tick()
        try await begin("Ann", store)
        try await put(crew, store, 1, "a", at: now)
        try await put(crew, store, 1, "A", at: now + 7_200_000)
        try await begin("Bob", store)
        try await put(crew, store, 2, "b", at: now + 7_200_010)
        try await put(crew, store, 3, "c", at: now + 10)
        try await put(crew, store, 4, "d", at: now + 20)
        let cursor = try await store.timeline(of: Store.job)
        let sessions = try await store.workSessions(of: Store.job)
        var told: Set<String> = []
        while let page = try await cursor.next() {
            for line in page where line.entry.item != .job {
                told.formUnion(line.entry.settings.map { "\($0.value): \(line.person ?? "nobody")" })
                let write = WriteStamp(stamp: line.entry.key.stamp, author: line.entry.author)
                let person = sessions.person(of: write)
                #expect(person == nil || person == line.person)
            }
        }
        #expect(told == ["a: Ann", "A: Ann", "b: Bob", "c: Bob", "d: Bob"])
    }

    @Test("A store of before reads who was there out of the journals that it holds")
    func migrated() async throws {
        let place = try Place()
        let crew = try Crew(0)
        let store = try await place.open()
        try await begin("Ann", store)
        try await put(crew, store, 1, "a")
        try await begin("Bob", store)
        try await put(crew, store, 1, "b")
        let known = try await store.workSessions(of: Store.job)
        try store.close()
        // As a version of before has it, which has taken the same journals in.
        let queue = try DatabaseQueue(path: place.path())
        try await queue.write { db in
            try db.execute(
                sql: """
                    DROP TABLE workSession;
                    DROP TABLE crew;
                    DROP TABLE person;
                    DELETE FROM grdb_migrations WHERE identifier = 'people 1';
                    """)
        }
        try queue.close()
        let later = try await place.open()
        #expect(try await later.workSessions(of: Store.job) == known)
        #expect(try await people(later) == ["a: Ann", "b: Bob"])
        #expect(try await later.crewList().names == ["Ann", "Bob"])
        try later.close()
    }

    @Test("What one laptop says of another one's people counts for nothing")
    func forged() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await begin("Ann", anna)
        try await put(crew, anna, 1, "a")
        try await crew.exchange()
        let lie = Edit.FieldValue(field: JobProperty.person(anna.identity.replica), value: "5 1 1 Mallory")
        _ = try await bert.edit(
            job: Store.job, nowMilliseconds: crew.tick(), [.put(item: .job, fields: [lie])])
        try await crew.exchange()
        try await put(crew, anna, 2, "b")
        try await crew.exchange()
        for store in crew.stores {
            #expect(try await people(store) == ["a: Ann", "b: Ann"])
            #expect(try await store.crewList().names == ["Ann"])
        }
    }

    @Test("Late work keeps its people, where it is listed and where it is taken over")
    func late() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await begin("Ann", anna)
        try await begin("Bob", bert)
        try await put(crew, anna, 1, "a")
        try await put(crew, bert, 2, "early")
        try await crew.exchange()
        try await put(crew, bert, 3, "b")
        try await begin("Carl", bert)
        try await put(crew, bert, 4, "c")
        _ = try await crew.end(anna)
        try await crew.exchange()
        for store in crew.stores {
            let sessions = try await store.workSessions(of: Store.job)
            let late = try await store.lateChanges(of: Store.job)
            #expect(late.map { sessions.person(at: TimelineKey($0.change, at: $0.dot)) } == ["Bob", "Carl"])
        }
        let time = ReceiveTime.known(crew.tick())
        let dots = try await anna.lateChanges(of: Store.job).map(\.dot)
        let rescued = try #require(
            try await anna.acceptLate(dots, of: Store.job, now: time, by: Writer(user: Self.ann)).first?.job)
        let lines = try await anna.timeline(of: rescued).rest()
        let sessions = try await anna.workSessions(of: rescued)
        #expect(lines.filter { $0.item != .job }.map { sessions.person(at: $0.key) } == ["Bob", "Carl"])
    }
}
