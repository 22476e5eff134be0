import CRDT
import Inventory
import Simulation
import Storage
import Testing

/// Random histories of a crew: whoever meets whom, whatever order the pieces come in.
@Suite("Forgetting in random histories", .timeLimit(.minutes(5)))
struct FoldingHistoryTests {
    @Test(
        "Nothing folded comes back, nothing is lost, and equal vectors show equal bytes",
        arguments: 1...40 as ClosedRange<UInt64>)
    func history(seed: UInt64) async throws {
        let history = try History(seed: seed)
        for _ in 0..<150 { try await history.step() }
        try await history.finish()
    }

    @Test("In most histories something is folded, and the journals shrink")
    func somethingIsFolded() async throws {
        var folded = 0
        var late = 0
        var saved = 0
        for seed in 1_000...1_015 as ClosedRange<UInt64> {
            let history = try History(seed: seed)
            for _ in 0..<120 { try await history.step() }
            try await history.finish()
            folded += ((try? await history.crew.stores[0].foldCount(of: Store.job)) ?? 0) > 0 ? 1 : 0
            late += history.lateSeen
            saved += history.removedBytes
        }
        #expect(folded >= 12, "\(folded) of 16 histories folded something")
        #expect(late > 0, "no work was late")
        #expect(saved > 0)
    }
}

private final class History {
    let crew: Crew
    /// Who is in reach of the others; the rest is in a truck.
    private var away: Set<Int> = []
    private var backups: [[UInt8]] = []
    private var removed: Set<ItemID> = []
    private(set) var foldedItems: Set<ItemID> = []
    private(set) var lateSeen = 0
    private(set) var removedBytes = 0
    /// What was written, by the text of its value.
    private var written: [String: ItemID] = [:]
    private var nextItem: UInt128 = 1
    private var nextValue = 0
    private var gone: [ReplicaID: Set<ItemID>] = [:]
    private var exports: [UInt64: [UInt8]] = [:]
    private let seed: UInt64

    init(seed: UInt64) throws {
        self.seed = seed
        crew = try Crew(3 + Int(seed % 3), seed: seed)
    }

    private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &crew.generator) }

    func step() async throws {
        let index = pick(crew.stores.count)
        let store = crew.stores[index]
        switch pick(20) {
        case 0..<5: try await edit(store)
        case 5, 6: try await remove(store)
        case 7..<13: try await meet(index)
        case 13..<16: try await retire(store)
        case 16: away.formSymmetricDifference([index])
        case 17 where away.count > 1 || pick(3) == 0: try await expel(by: index)
        case 18 where crew.stores.count < 6 && pick(3) == 0: try crew.join()
        // A laptop from a backup of another, or its clone: a replica of its own that knows what the other knew.
        case 19 where crew.stores.count < 6 && pick(4) == 0:
            backups.append(try store.copy())
            if pick(2) == 0 { try crew.join(contents: backups[pick(backups.count)]) }
        default: try await meet(index)
        }
        try await check(store)
    }

    private func edit(_ store: Store) async throws {
        nextValue += 1
        let value = "value \(nextValue)"
        let known = (try? await store.live()) ?? []
        let item: UInt128
        if known.isEmpty || pick(3) == 0 {
            // The first laptop makes the job; others join by being told of it.
            guard store === crew.stores[0] || !known.isEmpty else { return }
            item = nextItem
            nextItem += 1
        } else {
            item = known[pick(known.count)].value
        }
        do {
            let field: FieldName = pick(2) == 0 ? "name" : "room"
            try await crew.put(store, item, value, field: field)
            written[value] = ItemID(item)
        } catch let error as StoreError where error.code == .catchingUp {
            // Refused, in a sentence: nothing is written that could not count.
        }
    }

    private func remove(_ store: Store) async throws {
        let known = (try? await store.live()) ?? []
        guard !known.isEmpty else { return }
        let item = known[pick(known.count)]
        do {
            try await crew.remove(store, item.value)
            removed.insert(item)
        } catch let error as StoreError where error.code == .catchingUp {}
    }

    private func meet(_ index: Int) async throws {
        let other = pick(crew.stores.count)
        guard other != index, !away.contains(index), !away.contains(other) else { return }
        let isPart = pick(2) == 0
        try await Crew.send(
            crew.stores[other], crew.stores[index], bytes: isPart ? 1 : .max, pieces: isPart ? 1 + pick(3) : .max)
    }

    private func retire(_ store: Store) async throws {
        guard (try? await store.job(Store.job)) != nil else { return }
        let before = try await store.journalBytes()
        guard let commit = try await crew.retire(store) else { return }
        guard try ChangeCodec.decodeAll(commit.segment.bytes).contains(where: \.isFold) else { return }
        let gone = try await removed.subtracting(store.tombstones()).subtracting(store.live())
        foldedItems.formUnion(try await gone.asyncFilter { try await !self.isLateAnywhere($0) })
        removedBytes += try await before - (store.journalBytes() - commit.segment.bytes.count)
    }

    /// A removal that was late, or of an item that only late work made, is not folded.
    private func isLateAnywhere(_ item: ItemID) async throws -> Bool {
        for store in crew.stores where (try? await store.job(Store.job)) != nil {
            if try await store.lateChanges(of: Store.job).contains(where: { $0.change.item == item }) { return true }
        }
        return false
    }

    private func expel(by index: Int) async throws {
        guard !away.contains(index), let lost = away.sorted().first, lost != index else { return }
        let replica = crew.stores[lost].identity.replica
        let store = crew.stores[index]
        guard (try? await store.vector(of: Store.job)[replica].sequence) ?? 0 > 0 else { return }
        do {
            let time = ReceiveTime.known(crew.tick())
            _ = try await store.expel(replica, job: Store.job, now: time)
        } catch let error as StoreError where error.code == .notOnRoster {}
    }

    /// After every step: what is folded shows nowhere, and equal vectors show equal bytes.
    private func check(_ store: Store) async throws {
        guard let vector = try? await store.vector(of: Store.job) else { return }
        let live = try await Set(store.live())
        if try await store.holdsWhatFoldsName(of: Store.job) {
            // Once gone from a store it is gone there, whatever comes.
            let replica = store.identity.replica
            let back = live.intersection(gone[replica] ?? [])
            #expect(back.isEmpty, "seed \(seed): \(back) came back")
            gone[replica, default: []].formUnion(
                try await foldedItems.subtracting(live).subtracting(store.tombstones()))
            if try await store.foldCount(of: Store.job) == 0 { gone[replica] = nil }
            let bytes = try await store.exported()
            if let known = exports[vector.fingerprint] {
                #expect(
                    bytes == known,
                    "seed \(seed): equal vectors, unequal bytes")
            }
            exports[vector.fingerprint] = bytes
        }
        let job = try await store.job(Store.job)
        let items = try await store.items(job: Store.job, limit: .max)
        #expect(job.items == items.count { $0.state.removed == nil }, "seed \(seed)")
        #expect(job.removed == items.count { $0.state.removed != nil }, "seed \(seed)")
        #expect(job.conflicts == items.reduce(0) { $0 + $1.state.conflictCount }, "seed \(seed)")
    }

    func finish() async throws {
        away = []
        let statements = try await crew.settle(rounds: 30)
        #expect(statements >= 0, "seed \(seed): the housekeeping does not come to an end")
        guard let reference = try? await crew.stores[0].exported() else { return }
        for store in crew.stores {
            try await check(store)
            #expect(try await store.vector(of: Store.job) == crew.stores[0].vector(of: Store.job))
            #expect(try await store.exported() == reference, "seed \(seed)")
            #expect(try await store.integrityProblems().isEmpty)
        }
        try await expectNothingLost()
    }

    private func expectNothingLost() async throws {
        let store = crew.stores[0]
        let late = try await store.lateChanges(of: Store.job)
        lateSeen += late.count
        var present: Set<String> = []
        for change in late {
            for case .set(_, let value, _) in change.change.operations { present.insert(value) }
        }
        let timeline = try await store.timeline(of: Store.job, item: nil)
        for entry in timeline { present.formUnion(entry.settings.map(\.value)) }
        let live = try await Set(store.live())
        for (value, item) in written.sorted(by: { $0.key < $1.key }) where !present.contains(value) {
            // Only what was written on a removed item may be forgotten.
            #expect(removed.contains(item) && !live.contains(item), "seed \(seed): \(value) is lost")
        }
        #expect(live.isDisjoint(with: foldedItems), "seed \(seed)")
        // A tombstone that nobody disputes is forgotten in the end.
        let disputed = Set(late.map(\.change.item))
        #expect(try await Set(store.tombstones()).isSubset(of: disputed), "seed \(seed)")
    }
}

extension Change {
    fileprivate var isFold: Bool {
        operations.contains { operation in
            if case .fold = operation { true } else { false }
        }
    }
}

extension Set {
    fileprivate func asyncFilter(_ isIncluded: (Element) async throws -> Bool) async rethrows -> Set {
        var kept: Set = []
        for element in self where try await isIncluded(element) { kept.insert(element) }
        return kept
    }
}
