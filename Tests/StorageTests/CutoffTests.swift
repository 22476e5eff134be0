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
        _ heads: VersionVector, at milliseconds: UInt64 = 1, by signer: UInt128 = 9, of device: DeviceID? = nil
    ) throws -> Assignment {
        let cutoff = Assignment.Word.Cutoff(revocation: [1], heads: heads)
        return try #require(
            Assignment(
                of: Store.job, [Assignment.Word(device ?? bert.identity.device, .cutoff(cutoff))],
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

    /// A copy of bert's disk, which nothing tells from it.
    private func copyOfBert() throws -> Store {
        try Store.openInMemory(
            contents: try bert.copy(), place: StorePlace(machine: "laptop 1", file: "store"), hostName: "laptop 1",
            signer: TestSigner(1), generator: &crew.generator)
    }

    @Test("What a fork beyond the cutoff makes somebody write again stays late, under whatever name")
    func forkedLater() async throws {
        let word = try word(try await heads())
        let keep = try await bert.vector(of: Store.job)[bert.identity.replica].sequence
        let copy = try copyOfBert()
        try await crew.put(bert, 2, "Lamp")
        try await crew.put(copy, 3, "Chair")
        try await crew.send(bert, cleo)
        try await crew.send(copy, anna)
        try await self.keep(word, [anna, cleo])
        let branch = try #require(
            try await anna.segment(
                of: bert.identity.replica, job: Store.job, from: keep + 1, maximumBytes: .max))
        let adopted = try await cleo.adoptBranch(
            branch, job: Store.job, after: keep, now: .anyTime, using: &crew.generator)
        #expect(adopted.reissued != nil)
        try await crew.exchange([anna, cleo])
        for store in [anna, cleo] {
            #expect(try await store.live() == [ItemID(1)])
            #expect(try await Set(store.lateChanges(of: Store.job).map(\.change.item)) == [ItemID(2), ItemID(3)])
            #expect(try await store.lateChanges(of: Store.job).allSatisfy { $0.author == bert.identity.replica })
        }
        _ = try await crew.accept(anna, try await anna.lateChanges(of: Store.job).map(\.dot))
        try await crew.exchange([anna, cleo])
        for store in [anna, cleo] {
            #expect(try await store.live() == [ItemID(1), ItemID(2), ItemID(3)])
            #expect(try await store.lateChanges(of: Store.job).isEmpty)
        }
    }

    @Test("A decision beyond the cutoff of who took it is none: it is listed again", arguments: [true, false])
    func decidedBeyond(isAccepted: Bool) async throws {
        let first = try word(try await heads())
        try await keep(first, [anna, cleo])
        let cleosHeads = try await anna.heads(of: cleo.identity.device, in: Store.job)
        try await writeLater()
        try await crew.exchange()
        let late = try await cleo.lateChanges(of: Store.job).map(\.dot)
        if isAccepted { _ = try await crew.accept(cleo, late) } else { _ = try await crew.drop(cleo, late) }
        let dora = try crew.join()
        let second = try word(cleosHeads, at: 2, of: cleo.identity.device)
        // Anna has the decision when she hears that it does not count, dora hears that first.
        try await crew.send(cleo, anna)
        try await keep(second, [anna])
        for word in [first, second] { try await keep(word, [dora]) }
        try await crew.send(anna, dora)
        for store in [anna, dora] {
            #expect(try await name(1, store) == "Sofa")
            #expect(try await store.live() == [ItemID(1)])
            // Bert's, each once, as cleo wrote them again.
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1), ItemID(2)])
        }
        #expect(try await dora.digest(of: Store.job).text == anna.digest(of: Store.job).text)
    }

    @Test("Whoever removes the job takes nothing with it that waits for a person")
    func removedJob() async throws {
        try await keep(try word(try await heads()), [anna, cleo])
        try await writeLater()
        try await crew.exchange()
        _ = try await crew.end(anna)
        try await crew.exchange([anna, cleo])
        for store in [anna, cleo] {
            #expect(try await store.job(Store.job).isRemoved)
            #expect(try await store.lateChanges(of: Store.job).map(\.change.item) == [ItemID(1), ItemID(2)])
        }
    }

    @Test("Of two contents of a journal that one stays which counts, however small a thief's hash is")
    func contentThatStays() async throws {
        let head = try #require(try await heads().entries.first)
        try await keep(try word(try await heads()), [anna])
        try await writeLater()
        try await crew.exchange()
        let (replica, last) = (head.replica, head.head.sequence)
        #expect(try await anna.boundary(of: replica, job: Store.job, at: last)?.changeHash == 0)
        #expect(try await anna.boundary(of: replica, job: Store.job, at: last + 1)?.changeHash != 0)
        #expect(try await cleo.boundary(of: replica, job: Store.job, at: last)?.changeHash != 0)
    }

    @Test("A laptop that knows that its work does not count says so instead of taking it")
    func ownWork() async throws {
        try await keep(try word(try await heads()), [bert])
        let failure = await #expect(throws: StoreError.self) { try await crew.put(bert, 2, "Lamp") }
        #expect(failure?.code == .cutOff)
        try await crew.put(cleo, 3, "Chair")
        try await crew.send(cleo, bert)
        #expect(try await bert.live() == [ItemID(1), ItemID(3)])
    }

    @Test("What was taken over as it was signed for is no amendment any more")
    func signedAndTakenOver() async throws {
        try await writeLater()
        try await crew.exchange()
        let signed = try await cleo.digest(of: Store.job)
        let beginning = VersionVector(
            try await heads().entries.map { .init(replica: $0.replica, head: JournalHead(sequence: 1, digest: 9)) })
        try await keep(try word(beginning), [cleo])
        _ = try await crew.accept(cleo, try await cleo.lateChanges(of: Store.job).map(\.dot))
        try await crew.put(cleo, 5, "Later")
        let standing = try await cleo.amendments(
            of: Store.job, since: try #require(SignedVector(signed.vector)), digest: signed.text)
        guard case .held(let amendments) = standing else {
            Issue.record("\(standing)")
            return
        }
        #expect(amendments.map(\.item) == [ItemID(5)])
    }
}
