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

    @Test(
        "What counts again since, by an earlier word, is in the items after a rollback, and nothing falls between them and late work"
    )
    func earlierCutoff() async throws {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        let short = try await anna.heads(of: bert.identity.device, in: Store.job)
        try await bert.put(201, "name", "before the revocation")
        _ = try await bert.send(to: anna)
        try await anna.keepAssignments([word(.cutoff(.init(revocation: [1], heads: short)), at: 9)], of: [1])
        #expect(try await anna.item(ItemID(201), job: Store.job) == nil)
        try anna.close()
        try upgrade()
        let newer = try await place.open()
        // Who has revoked bert holds more of his journal than anna does.
        try await bert.put(202, "name", "held by the revoker")
        let long = try await bert.heads(of: bert.identity.device, in: Store.job)
        try await newer.keepAssignments([word(.cutoff(.init(revocation: [1], heads: long)), at: 3)], of: [1])
        #expect(try await newer.item(ItemID(201), job: Store.job) != nil)
        let digest = try await newer.digest(of: Store.job).text
        try newer.close()
        _ = try rollback().perform()
        let restored = try await place.open()
        #expect(try await restored.item(ItemID(201), job: Store.job)?.value(of: "name") == "before the revocation")
        #expect(try await restored.lateChanges(of: Store.job).isEmpty)
        #expect(try await restored.digest(of: Store.job).text == digest)
    }

    /// The same with a copy in which bert is on the job and cut off at his first change, and a newer store in which he was taken off.
    private func cutOff() async throws -> [Assignment] {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        let heads = try await anna.heads(of: bert.identity.device, in: Store.job)
        try await bert.put(201, "name", "of the thief")
        _ = try await bert.send(to: anna)
        let cutoff = try word(.cutoff(.init(revocation: [1], heads: heads)), at: 3)
        try await anna.keepAssignments([word(.on), cutoff], of: [1])
        try anna.close()
        try upgrade()
        let newer = try await place.open()
        try await newer.keepAssignments([word(.off, at: 2)], of: [1])
        try newer.close()
        return [try word(.on), cutoff]
    }

    @Test(
        "What this program could not read again does not go into the copy, which keeps its own words",
        arguments: [
            "UPDATE assignment SET content = x'07' WHERE content = (SELECT min(content) FROM assignment)",
            "UPDATE assignment SET signature = x'07'",
            "UPDATE assignment SET certificates = x'ffffffffffffffffff01'", "UPDATE assignment SET job = 'another'",
            "UPDATE cutoff SET heads = x'00ff'", "UPDATE cutoff SET device = 'bert'", "UPDATE cutoff SET job = ''",
            "DROP TABLE cutoff", "ALTER TABLE assignment RENAME TO words",
        ])
    func unreadable(sql: String) async throws {
        let said = try await cutOff()
        try OlderStore.change(place.path(), sql)
        let rollback = try rollback()
        #expect(rollback.words.lost == [.assignments, .cutoffs] && rollback.words.kept == [])
        _ = try rollback.perform()
        let restored = try await place.open()
        #expect(Set(try await restored.assignments(of: [1])) == Set(said))
        #expect(try await restored.item(ItemID(201), job: Store.job) == nil)
    }

    @Test("Rows that a damaged table has lost take nothing from the copy")
    func lostRows() async throws {
        let said = try await cutOff()
        try OlderStore.change(place.path(), "DELETE FROM assignment; DELETE FROM cutoff")
        #expect(try rollback().words.isEmpty)
        let newer = try await place.open()
        try await newer.keepAssignments([word(.off, at: 2)], of: [1])
        try newer.close()
        let rollback = try rollback()
        #expect(rollback.words.kept == [.assignments] && rollback.words.lost == [])
        _ = try rollback.perform()
        let restored = try await place.open()
        #expect(Set(try await restored.assignments(of: [1])) == [try word(.off, at: 2), said[1]])
        #expect(try await restored.item(ItemID(201), job: Store.job) == nil)
    }

    @Test("How far work counts follows from the word, where a damaged table has lost it")
    func lostCutoff() async throws {
        let said = try await cutOff()
        try OlderStore.change(place.path(), "DELETE FROM cutoff")
        try OlderStore.change("\(place.path())-before-2.0.0", "DELETE FROM cutoff; DELETE FROM assignment")
        let rollback = try rollback()
        #expect(rollback.words.kept == [.assignments, .cutoffs] && rollback.words.lost == [])
        _ = try rollback.perform()
        let restored = try await place.open()
        #expect(Set(try await restored.assignments(of: [1])) == [try word(.off, at: 2), said[1]])
        #expect(try await restored.item(ItemID(201), job: Store.job) == nil)
    }

    @Test(
        "An older layout that has a place for who is on a job and none for cutoffs gets neither with a cutoff, and the one without"
    )
    func halfALayout() async throws {
        let anna = try await place.open()
        _ = try await bert.send(to: anna)
        try anna.close()
        try upgrade(dropping: ["cutoff"])
        let newer = try await place.open()
        try await newer.keepAssignments([word(.off, at: 2)], of: [1])
        #expect(try rollback().words.kept == [.assignments])
        let heads = try await newer.heads(of: bert.identity.device, in: Store.job)
        try await newer.keepAssignments([word(.cutoff(.init(revocation: [1], heads: heads)), at: 3)], of: [1])
        try newer.close()
        #expect(try rollback().words.kept == [] && rollback().words.lost == [.assignments, .cutoffs])
    }

    @Test("A copy with words that no program would read is damaged, and the store is not")
    func unreadableCopy() async throws {
        _ = try await cutOff()
        try OlderStore.change("\(place.path())-before-2.0.0", "UPDATE cutoff SET heads = x'00ff'")
        let error = #expect(throws: StoreError.self) { try rollback() }
        #expect(error?.description.contains("The copy of before the upgrade") == true)
    }

    @Test(
        "What is paused is named as lost where it cannot be read, and not where nothing is", arguments: [true, false])
    func unreadablePauses(isPaused: Bool) async throws {
        try await place.open().close()
        try upgrade()
        let newer = try await place.open()
        var standing = OutboxStanding()
        standing.isPaused = isPaused
        try await newer.remember([.standing(standing)])
        try newer.close()
        #expect(try rollback().words.isEmpty == !isPaused)
        for sql in ["INSERT INTO outboxPause VALUES ('no lane')", "DROP TABLE outboxPause"] {
            try OlderStore.change(place.path(), sql)
            #expect(try rollback().words.lost == [.pauses] && rollback().words.kept == [], "\(sql)")
        }
    }
}
