import CRDT
import Simulation
import Storage
import Synchronization
import Testing

/// Anna and bert are on a job. Carl is of the fleet, knows its number, and says that it has ended; dave comes onto it later.
@Suite("A job ends by the word of who is on it", .timeLimit(.minutes(1)))
struct EndOfJobTests {
    private let crew: Crew
    private let fleet: [UInt8] = [1]
    private var anna: Store { crew.stores[0] }
    private var bert: Store { crew.stores[1] }
    private var carl: Store { crew.stores[2] }
    private var dave: Store { crew.stores[3] }

    init() async throws {
        crew = try Crew(4)
        for store in crew.stores { _ = try await store.follow(fleet) }
        try await crew.put(anna, 1, "Sofa")
        try await crew.send(anna, bert)
    }

    private func say(
        on: [Store], off: [Store] = [], at milliseconds: UInt64? = nil, to stores: [Store], fleet: [UInt8] = [1]
    ) async throws {
        let words =
            on.map { Assignment.Word($0.identity.device, isOn: true) }
            + off.map { Assignment.Word($0.identity.device, isOn: false) }
        let stamp = Stamp(milliseconds: milliseconds ?? crew.tick(), counter: 0)
        let statement = try #require(
            Assignment(of: Store.job, words, stamp: stamp, signer: DeviceID(high: 9, low: 9), certificates: []) { _ in
                [UInt8](repeating: 7, count: 64)
            })
        for store in stores { try await store.keepAssignments([statement], of: fleet) }
    }

    private func isRemoved(_ store: Store) async throws -> Bool { try await store.isRemoved(Store.job) }

    /// Carl's journal reaches a store before he says that the job has ended, and his word of that after it.
    private func endByCarl(to store: Store) async throws {
        try await Crew.send(carl, store)
        _ = try await crew.end(carl)
        try await Crew.send(carl, store)
    }

    private func notes(of store: Store) -> Notes {
        let notes = Notes()
        store.whenPassedOver { note in
            guard let refused = note as? RefusedEnd else { return }
            notes.told.withLock { $0.append(refused) }
        }
        return notes
    }

    private final class Notes: Sendable {
        let told = Mutex<[RefusedEnd]>([])
    }

    @Test("Who only knows its number ends it by nothing that they write, and is named")
    func guessed() async throws {
        try await say(on: [anna, bert], to: [anna])
        let notes = notes(of: anna)
        try await crew.put(carl, 9, "Nothing")
        try await endByCarl(to: anna)
        #expect(try await !isRemoved(anna))
        #expect(try await anna.live() == [ItemID(1), ItemID(9)], "what he wrote is taken")
        let told = notes.told.withLock { $0 }
        #expect(told.map(\.device) == [carl.identity.device] && told.map(\.job) == [Store.job])
        // Nor by the number of somebody's journal, which they guess.
        var heads = try #require(try await carl.removal(of: Store.job)).heads
        heads.set(anna.identity.replica, to: JournalHead(sequence: 2, digest: JournalDigest(5)))
        #expect(try await !anna.isShown(by: JobRemoval(name: "", heads: heads), of: Store.job))
    }

    @Test("Who had it as long as it was everybody's shows that, and what they had not seen is late")
    func apart() async throws {
        try await crew.exchange([anna, carl])
        try await crew.put(anna, 2, "Lamp")
        try await say(on: [anna, bert], to: [anna])
        _ = try await crew.end(carl)
        let removal = try #require(try await carl.removal(of: Store.job))
        #expect(try await anna.isShown(by: removal, of: Store.job))
        try await Crew.send(carl, anna)
        #expect(try await isRemoved(anna))
        #expect(try await anna.lateChanges(of: Store.job).map(\.change.item) == [ItemID(2)])
    }

    @Test("Who was taken off it ends it by what they said before, and by nothing later", arguments: [true, false])
    func takenOff(isBefore: Bool) async throws {
        try await say(on: [anna, carl], to: [anna, carl])
        try await crew.exchange([anna, carl])
        try await crew.put(carl, 9, "Chair")
        try await Crew.send(carl, anna)
        if isBefore { _ = try await crew.end(carl) }
        try await say(on: [], off: [carl], to: [anna])
        if !isBefore { _ = try await crew.end(carl) }
        try await Crew.send(carl, anna)
        #expect(try await isRemoved(anna) == isBefore)
    }

    @Test("The word of a revoked laptop ends nothing beyond its cutoff")
    func cutOff() async throws {
        try await say(on: [anna, carl], to: [anna, carl])
        try await crew.exchange([anna, carl])
        try await crew.put(carl, 9, "Chair")
        try await Crew.send(carl, anna)
        let heads = try await anna.heads(of: carl.identity.device, in: Store.job)
        let cutoff = Assignment.Word.Cutoff(revocation: [1], heads: heads)
        let statement = try #require(
            Assignment(
                of: Store.job, [Assignment.Word(carl.identity.device, .cutoff(cutoff))],
                stamp: Stamp(milliseconds: crew.tick(), counter: 0), signer: DeviceID(high: 9, low: 9), certificates: []
            ) { _ in [UInt8](repeating: 7, count: 64) })
        try await anna.keepAssignments([statement], of: fleet)
        _ = try await crew.end(carl)
        try await Crew.send(carl, anna)
        #expect(try await !isRemoved(anna))
    }

    // MARK: Before anybody has said whom it is for

    /// Dave has heard of the number from carl alone, and that the job has ended, with whatever carl says of anna's journal.
    private func plant(_ ownItem: UInt128? = nil) async throws {
        try await crew.put(carl, 9, "Nothing")
        try await Crew.send(carl, dave)
        if let ownItem { try await crew.put(dave, ownItem, "Vase") }
        var heads = try await crew.end(carl).outcome.removal.heads
        heads.set(anna.identity.replica, to: JournalHead(sequence: 1_000, digest: JournalDigest(5)))
        _ = try await dave.takeRemoval(
            JobRemoval(name: "Smith", heads: heads), of: Store.job, now: .anyTime, using: &crew.generator)
        try await Crew.send(carl, dave)
        #expect(try await isRemoved(dave))
    }

    @Test("An end that was planted is none when dave hears that he is on the job; he gets all of it")
    func planted() async throws {
        try await plant()
        try await say(on: [anna, dave], to: [anna, dave])
        #expect(try await !dave.jobs().contains { $0.id == Store.job })
        try await Crew.send(anna, dave)
        #expect(try await dave.live() == [ItemID(1)])
        #expect(try await dave.vector(of: Store.job) == anna.vector(of: Store.job))
        #expect(try await dave.digest(of: Store.job).text == anna.digest(of: Store.job).text)
        // A second word does not ask again, and who is on it may end it.
        try await say(on: [bert], to: [anna, dave])
        _ = try await crew.end(anna)
        try await crew.send(anna, dave)
        try await say(on: [carl], to: [anna, dave])
        #expect(try await isRemoved(dave))
    }

    @Test("What dave had written into it meanwhile is no late work then, and stays")
    func plantedBesideWork() async throws {
        try await plant(5)
        #expect(try await dave.lateChanges(of: Store.job).map(\.change.item) == [ItemID(5)])
        try await say(on: [anna, dave], to: [anna, dave])
        #expect(try await dave.lateChanges(of: Store.job).isEmpty)
        #expect(try await dave.live() == [ItemID(5)])
        try await crew.exchange([anna, dave])
        #expect(try await dave.live() == [ItemID(1), ItemID(5)])
        #expect(try await anna.digest(of: Store.job).text == dave.digest(of: Store.job).text)
    }

    @Test("Words of another fleet take no end back, and an end by who was told of the job stands")
    func stands() async throws {
        try await plant()
        try await say(on: [anna, dave], to: [dave], fleet: [2])
        #expect(try await isRemoved(dave))
        try await crew.send(bert, anna)
        _ = try await crew.end(anna)
        try await crew.send(anna, bert)
        try await say(on: [anna, dave], to: [bert])
        #expect(try await isRemoved(bert), "it shows anna's journal, as bert held it")
    }
}
