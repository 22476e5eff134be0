import CRDT
import Inventory
import Simulation
import Storage
import Testing

/// How far the journals of a revoked laptop count. Anna and cleo go on; bert's laptop is stolen.
@Suite("What a revoked laptop writes later is listed")
struct CutoffTests {
    private let crew: Crew
    private var anna: Store { crew.stores[0] }
    private var bert: Store { crew.stores[1] }
    private var cleo: Store { crew.stores[2] }

    init() async throws {
        crew = try Crew(3)
        try await crew.put(bert, 1, "Sofa")
        try await crew.exchange()
        try await crew.put(cleo, 1, "Hall", field: "room")
        try await crew.exchange()
    }

    private func word(
        _ heads: VersionVector, at milliseconds: UInt64 = 1, by signer: UInt128 = 9
    ) throws -> Assignment {
        try #require(
            Assignment(
                of: Store.job, [Assignment.Word(bert.identity.device, .cutoff(heads))],
                stamp: Stamp(milliseconds: milliseconds, counter: 0), signer: DeviceID(high: signer, low: 0),
                certificates: []
            ) { _ in [UInt8](repeating: 7, count: 64) })
    }

    /// What anna holds of bert's by now.
    private func heads() async throws -> VersionVector {
        try await anna.heads(of: bert.identity.device, in: Store.job)
    }

    /// What bert's thief writes: another name for the sofa, and a lamp.
    private func writeLater() async throws {
        try await crew.put(bert, 1, "Nothing of value")
        try await crew.put(bert, 2, "Lamp")
    }

    private func keep(_ word: Assignment, _ stores: [Store]) async throws {
        for store in stores { try await store.keepAssignments([word], of: [1]) }
    }

    private func name(_ item: UInt128, _ store: Store) async throws -> String? {
        try await store.item(ItemID(item), job: Store.job)?.value(of: "name")
    }

    private func expectWithout(_ stores: [Store]) async throws {
        for store in stores {
            #expect(try await name(1, store) == "Sofa")
            #expect(try await store.item(ItemID(1), job: Store.job)?.value(of: "room") == "Hall")
            #expect(try await store.live() == [ItemID(1)])
            #expect(try await store.job(Store.job).items == 1)
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1), ItemID(2)])
            #expect(try await store.lateChanges(of: Store.job).allSatisfy { $0.author == bert.identity.replica })
            #expect(try await store.digest(of: Store.job).text == anna.digest(of: Store.job).text)
        }
        let lines = try await anna.timeline(of: Store.job)
        var told: [ItemID] = []
        while let more = try await lines.next() { told += more.map(\.entry.item) }
        #expect(!told.contains(ItemID(2)) && told.contains(ItemID(1)))
    }

    @Test("It is the same whether the word comes first or the work, and both are passed on")
    func order() async throws {
        let word = try word(try await heads())
        try await writeLater()
        try await keep(word, [anna])
        // Cleo takes it for work like any other, until she hears.
        try await crew.send(bert, cleo)
        #expect(try await name(2, cleo) == "Lamp")
        let before = try await cleo.digest(of: Store.job).text
        try await crew.send(cleo, anna)
        try await keep(word, [cleo])
        #expect(try await cleo.digest(of: Store.job).text != before)
        #expect(try await anna.vector(of: Store.job) == cleo.vector(of: Store.job))
        try await expectWithout([anna, cleo])
        // Who comes later gets both.
        let dora = try crew.join()
        try await keep(word, [dora])
        try await crew.send(cleo, dora)
        try await expectWithout([dora])
    }

    @Test("A digest that was made before is not written down for what counts now")
    func digest() async throws {
        let word = try word(try await heads())
        try await writeLater()
        try await crew.exchange()
        let note = try #require(try await cleo.restNote(of: Store.job))
        let stale = try await cleo.digest(of: Store.job).text
        try await keep(word, [anna, cleo])
        try await cleo.keep([note])
        #expect(try await cleo.digest(of: Store.job).text != stale)
        #expect(try await cleo.knownDigest(of: Store.job)?.text == cleo.digest(of: Store.job).text)
        try await expectWithout([anna, cleo])
    }

    @Test("A person takes it over as bert's, or leaves it out; then nothing waits anywhere", arguments: [true, false])
    func decided(isAccepted: Bool) async throws {
        try await keep(try word(try await heads()), [anna, cleo])
        try await writeLater()
        try await crew.exchange()
        let late = try await cleo.lateChanges(of: Store.job).map(\.dot)
        #expect(late.count == 2)
        if isAccepted {
            let commits = try await crew.accept(cleo, late)
            #expect(commits.allSatisfy { $0.job == Store.job })
        } else {
            _ = try await crew.drop(cleo, late)
        }
        try await crew.exchange([anna, cleo])
        for store in [anna, cleo] {
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
            #expect(try await name(2, store) == (isAccepted ? "Lamp" : nil))
            #expect(try await name(1, store) == (isAccepted ? "Nothing of value" : "Sofa"))
            #expect(try await store.digest(of: Store.job).text == anna.digest(of: Store.job).text)
        }
        // What the thief writes after that waits again.
        try await crew.put(bert, 3, "Chair")
        try await crew.exchange()
        #expect(try await anna.lateChanges(of: Store.job).map(\.change.item) == [ItemID(3)])
        await #expect(throws: StoreError.self) { try await crew.accept(anna, late) }
    }

    @Test("The first word about a laptop stands, in whatever order they come")
    func firstWord() async throws {
        let first = try word(try await heads(), at: 5)
        try await writeLater()
        try await crew.exchange()
        let second = try word(try await heads(), at: 6, by: 8)
        for (store, words) in [(anna, [first, second]), (cleo, [second, first])] {
            for word in words { try await keep(word, [store]) }
            #expect(try await store.assignments(of: [1]) == [first])
        }
        try await expectWithout([anna, cleo])
    }

    @Test("Another content than the one that counts does not count, and a beginning of it does")
    func otherContent() async throws {
        let held = try await heads()
        let entry = try #require(held.entries.first)
        let farther = JournalHead(sequence: entry.head.sequence + 1, digest: 5)
        try await keep(try word(VersionVector([.init(replica: entry.replica, head: farther)])), [anna])
        #expect(try await name(1, anna) == "Sofa")
        try await writeLater()
        try await crew.send(bert, anna)
        #expect(try await name(1, anna) == nil, "the journal went another way")
        #expect(try await anna.item(ItemID(1), job: Store.job)?.value(of: "room") == "Hall")
        // All of it is there to be looked at: the sofa's first name, its second one, and the lamp.
        #expect(try await anna.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1), ItemID(1), ItemID(2)])
    }

    @Test("A journal that nobody had heard of does not count, nor does it under another name of the laptop")
    func otherName() async throws {
        try await keep(try word(try await heads()), [anna, cleo])
        try await bert.renewReplica(bert.identity.replica, using: &crew.generator)
        try await crew.put(bert, 4, "Under another name")
        try await crew.exchange()
        for store in [anna, cleo] {
            #expect(try await store.live() == [ItemID(1)])
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(4)])
        }
    }

    @Test("What was signed before anybody knew is told as it was signed, and what is missing from it")
    func signed() async throws {
        let word = try word(try await heads())
        try await writeLater()
        try await crew.exchange()
        let signed = try await cleo.digest(of: Store.job)
        let vector = try #require(SignedVector(signed.vector))
        try await keep(word, [cleo])
        let standing = try await cleo.amendments(of: Store.job, since: vector, digest: signed.text)
        guard case .held(let amendments) = standing else {
            Issue.record("\(standing)")
            return
        }
        #expect(amendments.map(\.item) == [ItemID(1), ItemID(2)] && amendments.allSatisfy { $0.kind == .uncounted })
        // Signed again, without it.
        let again = try await cleo.digest(of: Store.job)
        try await crew.put(cleo, 1, "Den", field: "room")
        let since = try await cleo.amendments(
            of: Store.job, since: try #require(SignedVector(again.vector)), digest: again.text)
        guard case .held(let changes) = since else {
            Issue.record("\(since)")
            return
        }
        #expect(changes.map(\.item) == [ItemID(1)] && changes.allSatisfy { $0.kind == .changed })
    }

    @Test("It outlasts that the store is closed")
    func reopened() async throws {
        let place = try Place()
        let other = try await place.open("anna")
        try await crew.send(bert, other)
        try await keep(try word(try await heads()), [other])
        try await writeLater()
        try other.close()
        let opened = try await place.open("anna")
        try await crew.send(bert, opened)
        #expect(try await name(1, opened) == "Sofa")
        #expect(try await opened.lateChanges(of: Store.job).count == 2)
    }
}
