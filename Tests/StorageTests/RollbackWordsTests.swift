import CRDT
import Foundation
import GRDB
import Inventory
import Outbox
import Simulation
import Testing

@testable import Storage

/// What was said since an upgrade and stands in no journal. Anna goes back; bert's laptop is stolen, or he was taken off the job.
@Suite("A rollback takes over what people have said", .timeLimit(.minutes(2)))
struct RollbackWordsTests {
    private let place: Place
    private let bert: Store

    init() async throws {
        place = try Place()
        bert = try await place.open("b", machine: "bert")
        try await bert.put(200, "name", "of bert")
    }

    private func word(_ kind: Assignment.Word.Kind, at milliseconds: UInt64 = 1) throws -> Assignment {
        try #require(
            Assignment(
                of: Store.job, [Assignment.Word(bert.identity.device, kind)],
                stamp: Stamp(milliseconds: milliseconds, counter: 0), signer: DeviceID(high: 9, low: 0),
                certificates: []
            ) { _ in [UInt8](repeating: 7, count: 64) })
    }

    /// A closed store of anna's says that another version has upgraded it, and has the copy that it made.
    private func upgrade(dropping tables: [String] = []) throws {
        let copy = "\(place.path())-before-2.0.0"
        try OlderStore.change(place.path(), "VACUUM INTO '\(copy)'")
        for table in tables { try OlderStore.change(copy, "DROP TABLE \(table)") }
        try OlderStore.change(place.path(), "UPDATE program SET former = version, version = '2.0.0'")
    }

    private func rollback() throws -> StoreRollback { try StoreRollback(ofStoreAt: place.path(), program: "1.0.0") }

    @Test("Who was taken off a job stays off it, and what was cut off stays cut off, also where the copy counted it")
    func words() async throws {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        let heads = try await anna.heads(of: bert.identity.device, in: Store.job)
        try await bert.put(201, "name", "of the thief")
        _ = try await bert.send(to: anna)
        let earlier = try word(.on)
        try await anna.keepAssignments([earlier], of: [1])
        try anna.close()
        try upgrade()
        let newer = try await place.open()
        #expect(try await newer.item(ItemID(201), job: Store.job) != nil)
        let said = [try word(.off, at: 2), try word(.cutoff(.init(revocation: [1], heads: heads)), at: 3)]
        try await newer.keepAssignments(said, of: [1])
        #expect(try await newer.item(ItemID(201), job: Store.job) == nil)
        let digest = try await newer.digest(of: Store.job).text
        try newer.close()

        let rollback = try rollback()
        #expect(try rollback.losses.get() == [])
        #expect(rollback.words.kept == [.assignments, .cutoffs] && rollback.words.lost == [])
        _ = try rollback.perform()
        let restored = try await place.open()
        #expect(restored.wasCopied)
        #expect(Set(try await restored.assignments(of: [1])) == Set(said), "what says nothing any more is gone")
        #expect(try await restored.item(ItemID(200), job: Store.job) != nil)
        #expect(try await restored.item(ItemID(201), job: Store.job) == nil, "it is late work, as before")
        #expect(try await restored.lateChanges(of: Store.job).map(\.change.item) == [ItemID(201)])
        #expect(try await restored.digest(of: Store.job).text == digest)
        // What the thief writes after that comes by somebody who has not heard.
        try await bert.put(202, "name", "after the rollback")
        _ = try await bert.send(to: restored)
        #expect(try await restored.item(ItemID(202), job: Store.job) == nil)
        #expect(try await restored.integrityProblems().isEmpty)
    }

    @Test("What is paused stays paused, and who has let it go on has done so")
    func pauses() async throws {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        let lane = try #require(LaneID("\(Store.job.text)/job"))
        var standing = OutboxStanding()
        standing.pausedLanes = [lane]
        try await anna.remember([.standing(standing)])
        try anna.close()
        try upgrade()
        let newer = try await place.open()
        (standing.isPaused, standing.pausedLanes) = (true, [])
        try await newer.remember([.standing(standing)])
        try newer.close()
        let rollback = try rollback()
        #expect(rollback.words.kept == [.pauses] && rollback.words.lost == [])
        _ = try rollback.perform()
        #expect(try await place.open().outboxMemory().standing == standing)
    }

    @Test("Where nothing was said since, nothing is told, and the copy is put back as it is")
    func nothing() async throws {
        let anna = try await place.open()
        try await anna.keepAssignments([try word(.off)], of: [1])
        try await anna.remember([.standing(OutboxStanding())])
        try anna.close()
        try upgrade()
        let copy = try Data(contentsOf: URL(fileURLWithPath: "\(place.path())-before-2.0.0"))
        let rollback = try rollback()
        #expect(rollback.words.isEmpty)
        _ = try rollback.perform()
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == copy)
    }

    @Test("What the older layout has no place for, or the newer one keeps otherwise, is named")
    func lost() async throws {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        try await anna.keepAssignments([try word(.off)], of: [1])
        try await anna.begin(#require(WorkSession(name: "Anna", since: 1, drift: nil, uncertainty: nil)), of: 1_000)
        try anna.close()
        try upgrade(dropping: ["assignment", "cutoff"])
        #expect(try rollback().words.lost == [.assignments, .sessions], "nobody was cut off")
        try OlderStore.change(place.path(), "ALTER TABLE cutoff RENAME COLUMN heads TO ends")
        #expect(try rollback().words.lost == [.assignments, .cutoffs, .sessions])
        #expect(try rollback().words.kept == [])
    }

    @Test("Whoever was killed while it was written begins anew with the copy as it was")
    func interrupted() async throws {
        let anna = try await place.open()
        try await anna.keepAssignments([try word(.on)], of: [1])
        try anna.close()
        try upgrade()
        let newer = try await place.open()
        try await newer.keepAssignments([try word(.off, at: 2)], of: [1])
        try newer.close()
        // What SQLite leaves of a transaction whose program is gone: the journal, and pages that have changed.
        let copy = "\(place.path())-before-2.0.0"
        let (torn, journal) = (place.path("torn"), place.path("torn") + "-journal")
        try FileManager.default.copyItem(atPath: copy, toPath: torn)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: torn, configuration: configuration)
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN")
            try db.execute(sql: "DELETE FROM assignment; CREATE TABLE filler (x)")
            try db.execute(sql: "INSERT INTO filler VALUES (zeroblob(400000))")
            for (whole, half) in [(torn, copy), (journal, copy + "-journal")] {
                try Data(contentsOf: URL(fileURLWithPath: whole)).write(to: URL(fileURLWithPath: half))
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        let rollback = try rollback()
        #expect(rollback.words.kept == [.assignments])
        _ = try rollback.perform()
        #expect(try await place.open().assignments(of: [1]) == [word(.off, at: 2)])
    }
}
