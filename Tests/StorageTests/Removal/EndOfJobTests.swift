import CRDT
import Simulation
import Storage
import Synchronization
import Testing

/// Anna and bert are on a job. Carl is of the fleet, knows its number, and writes in his journal that it has ended.
@Suite("A journal ends no job that is for some", .timeLimit(.minutes(1)))
struct EndOfJobTests {
    private let crew: Crew
    private var anna: Store { crew.stores[0] }
    private var carl: Store { crew.stores[1] }
    private let notes = Notes()

    private final class Notes: Sendable {
        let told = Mutex<[RefusedEnd]>([])
    }

    init() async throws {
        crew = try Crew(2)
        for store in crew.stores { _ = try await store.follow([1]) }
        anna.whenPassedOver { [notes] note in
            guard let refused = note as? RefusedEnd else { return }
            notes.told.withLock { $0.append(refused) }
        }
        try await crew.put(anna, 1, "Sofa")
        try await crew.put(carl, 9, "Chair")
        try await Crew.send(carl, anna)
    }

    private func say(_ words: [Assignment.Word], fleet: [UInt8] = [1]) async throws {
        let stamp = Stamp(milliseconds: crew.tick(), counter: 0)
        let statement = try #require(
            Assignment(of: Store.job, words, stamp: stamp, signer: DeviceID(high: 9, low: 9), certificates: []) { _ in
                [UInt8](repeating: 7, count: 64)
            })
        try await anna.keepAssignments([statement], of: fleet)
    }

    private func on(_ stores: Store...) -> [Assignment.Word] {
        stores.map { Assignment.Word($0.identity.device, isOn: true) }
    }

    /// What carl writes reaches anna.
    private func endByCarl() async throws {
        _ = try await crew.end(carl)
        try await Crew.send(carl, anna)
    }

    @Test("Who is not on it ends nothing by what they write, and is named; the rest of it is taken")
    func outsider() async throws {
        try await say(on(anna))
        try await endByCarl()
        #expect(try await !anna.isRemoved(Store.job))
        #expect(try await anna.live() == [ItemID(1), ItemID(9)])
        #expect(try await anna.lateChanges(of: Store.job).isEmpty)
        let told = notes.told.withLock { $0 }
        #expect(told.map(\.device) == [carl.identity.device] && told.map(\.job) == [Store.job])
        // Nor for who reads it when carl has been put on the job.
        try await say(on(carl))
        let dave = try crew.join()
        _ = try await dave.follow([1])
        try await dave.keepAssignments(try await anna.assignments(of: [1]), of: [1])
        try await Crew.send(anna, dave)
        #expect(try await !dave.isRemoved(Store.job))
        #expect(try await dave.live() == anna.live())
    }

    @Test("Who is on it tells of the end over a connection: nobody is named")
    func insider() async throws {
        try await say(on(anna, carl))
        try await endByCarl()
        #expect(try await !anna.isRemoved(Store.job))
        #expect(notes.told.withLock { $0 }.isEmpty)
        try await crew.send(carl, anna)
        #expect(try await anna.isRemoved(Store.job))
    }

    @Test("One that is everybody's ends by anybody's journal; words of another fleet, and cutoffs, change that not")
    func everybodys() async throws {
        try await say(on(anna), fleet: [2])
        let cutoff = Assignment.Word.Cutoff(revocation: [1], heads: VersionVector())
        try await say([Assignment.Word(DeviceID(high: 5, low: 5), .cutoff(cutoff))])
        try await endByCarl()
        #expect(try await anna.isRemoved(Store.job))
    }

    @Test("The journal of a revoked laptop ends nothing beyond its cutoff")
    func cutOff() async throws {
        let heads = try await anna.heads(of: carl.identity.device, in: Store.job)
        let cutoff = Assignment.Word.Cutoff(revocation: [1], heads: heads)
        try await say([Assignment.Word(carl.identity.device, .cutoff(cutoff))])
        try await endByCarl()
        #expect(try await !anna.isRemoved(Store.job))
    }
}
