import CRDT
import Inventory
import Replication
import Testing
import Timekeeping

@testable import Engine
@testable import Simulation
@testable import Storage

@Suite("A backup is brought in", .timeLimit(.minutes(2)))
struct BackupTests {
    /// The store of a backup, as the daemon opens it.
    private func opened(_ contents: [UInt8], seed: UInt64 = 3) throws -> Store {
        var generator = SeededGenerator(seed: seed)
        return try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "backup", file: "1"), hostName: "anna",
            signer: TestSigner(1), generator: &generator)
    }

    private func put(_ item: UInt128, _ name: String, in anna: Anna) async throws {
        let put = Edit.put(item: ItemID(item), fields: [Edit.FieldValue(field: "name", value: name)])
        _ = try await anna.store.edit(
            job: Anna.job, createsJob: true, now: { [clock = anna.clock] in clock.now },
            [put, .note(item: ItemID(item), text: "note of \(name)")])
    }

    private func names(in store: Store) async throws -> [String] {
        var names: [String] = []
        let cursor = try store.itemCursor(of: Anna.job)
        while let batch = try await cursor.next() {
            for item in batch {
                names += [item.state.value(of: "name") ?? ""] + item.state.remarks.map(\.text)
            }
        }
        return names.sorted()
    }

    private func all(_ names: [String]) -> [String] { names.flatMap { [$0, "note of \($0)"] }.sorted() }

    @Test("Of a journal with two contents nothing is lost and nothing is there twice, whichever branch stays")
    func forked() async throws {
        var (gaveWayHere, gaveWayThere) = (0, 0)
        for seed in 1...12 as ClosedRange<UInt128> {
            let first = try Anna()
            try await put(1, "base", in: first)
            let past = try first.store.copy()
            for count in 0..<3 as Range<UInt128> { try await put(100 * seed + count, "lost \(count)", in: first) }
            let backup = try first.store.copy()
            let anna = try Anna(contents: past)
            let name = anna.store.identity.replica
            #expect(name == first.store.identity.replica, "nothing tells that it was set back")
            for count in 0..<4 as Range<UInt128> { try await put(100 * seed + 50 + count, "new \(count)", in: anna) }
            let expected = all(["base"] + (0..<3).map { "lost \($0)" } + (0..<4).map { "new \($0)" })

            let difference = try await anna.replicator.difference(of: try opened(backup))
            #expect(difference.jobs.map(\.forks) == [1])
            let outcome = try await anna.replicator.restore(
                from: try opened(backup), believing: { _ in false })
            #expect(outcome.leftOut == [])
            #expect(try await names(in: anna.store) == expected, "seed \(seed)")
            if anna.store.identity.replica == name { gaveWayThere += 1 } else { gaveWayHere += 1 }

            let held = try await anna.store.vector(of: Anna.job)
            for again in 4...5 as ClosedRange<UInt64> {
                _ = try await anna.replicator.restore(
                    from: try opened(backup, seed: again), believing: { _ in false })
            }
            #expect(try await names(in: anna.store) == expected)
            #expect(try await anna.store.vector(of: Anna.job) == held, "nothing is issued twice")
        }
        #expect(gaveWayHere > 0)
        #expect(gaveWayThere > 0)
    }

    @Test("A backup that says less of a journal than it holds, or more, is not believed", arguments: [-1, -2, 1])
    func falseEnd(by difference: Int) async throws {
        let first = try Anna()
        try await put(1, "base", in: first)
        // Of two transforms: what ends one less ends in its midst.
        let fields = ["name", "room"].map { Edit.FieldValue(field: $0, value: "sofa") }
        _ = try await first.store.edit(
            job: Anna.job, now: { [clock = first.clock] in clock.now }, [.put(item: ItemID(2), fields: fields)])
        let contents = try first.store.copy()
        let backup = try opened(contents)
        let replica = first.store.identity.replica
        let head = try await backup.vector(of: Anna.job)[replica]
        let said = JournalHead(sequence: UInt64(Int(head.sequence) + difference), digest: head.digest)
        try await backup.write { db in
            try JobRows(of: Anna.job, in: db).journal(of: replica).setHead(said, latest: .zero)
        }
        let anna = try Anna(contents: contents)
        let brought = try await anna.replicator.difference(of: backup)
        #expect(brought.jobs.map(\.forks) == [0])
        let outcome = try await anna.replicator.restore(from: backup, believing: { _ in false })
        #expect(outcome.transforms == 0)
        #expect(outcome.leftOut.map(\.reason) == [.damaged])
        #expect(try await anna.store.vector(of: Anna.job)[replica] == head)
    }

    @Test("What is wrong with the laptop's own store is not said of the backup")
    func ownDamage() async throws {
        let first = try Anna()
        for item in 1...2 as ClosedRange<UInt128> { try await put(item, "item \(item)", in: first) }
        let contents = try first.store.copy()
        let anna = try Anna(contents: contents)
        try await put(3, "since", in: anna)
        try await anna.store.write { db in try RawStatement("DELETE FROM segment WHERE first = 1", in: db).run() }
        let error = await #expect(throws: StoreError.self) {
            try await anna.replicator.difference(of: try opened(contents))
        }
        #expect(error?.code == .damaged)
    }

    @Test("A store that was set back, and wrote nothing since, becomes a new replica before it takes its own back")
    func ownFuture() async throws {
        let first = try Anna()
        try await put(1, "base", in: first)
        let past = try first.store.copy()
        try await put(2, "lost", in: first)
        let backup = try first.store.copy()
        let anna = try Anna(contents: past)
        let name = anna.store.identity.replica
        let outcome = try await anna.replicator.restore(
            from: try opened(backup), believing: { _ in false })
        #expect(outcome.leftOut == [])
        #expect(anna.store.identity.replica != name, "rule R9")
        #expect(try await names(in: anna.store) == all(["base", "lost"]))
        try await put(3, "since", in: anna)
        #expect(try await names(in: anna.store) == all(["base", "lost", "since"]))
    }

    @Test("On a full disk it ends with what it has, and goes on later")
    func fullDisk() async throws {
        let first = try Anna()
        for count in 1...5 as ClosedRange<UInt128> { try await put(count, "item \(count)", in: first) }
        let backup = try first.store.copy()
        let anna = try Anna(number: 7)
        anna.store.setDiskFull(true)
        await #expect(throws: RestoreFailure.self) {
            try await anna.replicator.restore(
                from: try opened(backup), believing: { _ in false })
        }
        anna.store.setDiskFull(false)
        let outcome = try await anna.replicator.restore(
            from: try opened(backup, seed: 4), believing: { _ in false })
        #expect(outcome.transforms > 0)
        #expect(try await names(in: anna.store).count == 10)
    }

    @Test("A job that was removed stays removed, and one that goes on is not ended by a backup")
    func removals() async throws {
        let first = try Anna()
        try await put(1, "sofa", in: first)
        let living = try first.store.copy()
        _ = try await first.store.removeJob(Anna.job, now: first.clock.now)
        let removed = try first.store.copy()

        let anna = try Anna(contents: living)
        let difference = try await anna.replicator.difference(of: try opened(removed))
        #expect(difference.endedThere.map(\.id) == [Anna.job])
        #expect(difference.jobs.isEmpty)
        _ = try await anna.replicator.restore(
            from: try opened(removed), believing: { _ in false })
        #expect(try await names(in: anna.store) == all(["sofa"]))

        let bert = try Anna(contents: removed)
        let other = try await bert.replicator.difference(of: try opened(living))
        #expect(other.jobs.isEmpty)
        _ = try await bert.replicator.restore(
            from: try opened(living), believing: { _ in false })
        #expect(try await bert.store.isRemoved(Anna.job))

        let fresh = try Anna(number: 7)
        _ = try await fresh.replicator.restore(
            from: try opened(removed), believing: { _ in false })
        #expect(try await fresh.replicator.difference(of: try opened(removed)).endedThere.map(\.id) == [Anna.job])
        #expect(try await fresh.store.vectors().isEmpty, "whoever told the end is not asked, so it is not passed on")
    }
}
