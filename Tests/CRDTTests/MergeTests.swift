import CRDT
import Simulation
import Testing

@Suite("The merge of an item's changes")
struct MergeTests {
    @Test("Every order of delivery gives the same state", arguments: 2...7)
    func everyOrderGivesTheSameState(replicas: Int) {
        for seed in 1...12 as ClosedRange<UInt64> {
            let history = Histories.random(replicas: replicas, changes: 6, seed: seed)
            let expected = Histories.state(of: history)
            var differing = 0
            Histories.forEachOrder(of: history) { if Histories.state(of: $0) != expected { differing += 1 } }
            #expect(differing == 0, "seed \(seed): \(differing) of 720 orders differ")
        }
    }

    @Test("Long histories in random orders, with repetitions, give the same state", arguments: 2...7)
    func repetitionChangesNothing(replicas: Int) {
        for seed in 1...60 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed &* 977)
            let history = Histories.random(replicas: replicas, changes: 60, seed: seed)
            let expected = Histories.state(of: history)
            let repeated = history + history.filter { _ in generator.oneIn(2) }
            #expect(Histories.state(of: repeated.shuffled(using: &generator)) == expected, "seed \(seed)")
        }
    }

    @Test("Batches can be grouped in any way")
    func groupingDoesNotMatter() {
        for seed in 1...100 as ClosedRange<UInt64> {
            let history = Histories.random(replicas: 3, changes: 9, seed: seed)
            let parts = [history[0..<3], history[3..<6], history[6..<9]]
            let expected = Histories.state(of: history)
            Histories.forEachOrder(of: parts) { order in
                #expect(Histories.state(of: order.joined()) == expected, "seed \(seed)")
            }
        }
    }

    @Test("The last write of each field wins, whatever its author had seen")
    func lastWriteWins() {
        for seed in 1...200 as ClosedRange<UInt64> {
            let history = Histories.random(replicas: 5, changes: 40, seed: seed, removes: false)
            var last: [FieldName: (write: WriteStamp, value: String)] = [:]
            for written in history {
                let write = written.change.write(in: written.replica)
                for case .set(let field, let value, _) in written.change.operations
                where last[field].map({ $0.write < write }) ?? true { last[field] = (write, value) }
            }
            let state = Histories.state(of: history)
            for (field, expected) in last {
                #expect(state.value(of: field) == expected.value, "seed \(seed), \(field)")
            }
        }
    }

    @Test("No edit, however concurrent, drops a remark")
    func remarksOnlyGrow() {
        for seed in 1...200 as ClosedRange<UInt64> {
            let history = Histories.random(replicas: 6, changes: 60, seed: seed, removes: false)
            var expected: Set<String> = []
            for written in history {
                for case .append(_, let entry) in written.change.operations { expected.insert(entry) }
            }
            let remarks = Histories.state(of: history).remarks
            #expect(Set(remarks.map(\.text)) == expected)
            #expect(remarks == remarks.sorted())
        }
    }

    @Test("A tombstone is final: nothing older or newer shows")
    func tombstonesAreFinal() {
        var generator = SeededGenerator(seed: 5)
        for seed in 1...100 as ClosedRange<UInt64> {
            let history = Histories.random(replicas: 4, changes: 30, seed: seed, removes: false)
            let remover = ReplicaID.random(using: &generator)
            let stamp = Stamp(milliseconds: UInt64.random(in: 0...80, using: &generator), counter: 0)
            let removal = Written(
                change: Change(item: Histories.item, stamp: stamp, operations: [.remove]), replica: remover)
            let state = Histories.state(of: (history + [removal]).shuffled(using: &generator))
            #expect(state.removed == WriteStamp(stamp: stamp, author: remover))
            // What it was is kept for who looks it up, and nothing of it counts any more.
            let former = Histories.state(of: history)
            #expect(state.fields == former.fields && state.remarks == former.remarks)
            #expect(state.conflictCount == 0)
        }
    }

    @Test("Two removes of one item leave one tombstone, the earlier one")
    func concurrentRemovesAgree() {
        let early = Written(
            change: Change(item: Histories.item, stamp: Stamp(rawValue: 5), operations: [.remove]),
            replica: ReplicaID(2))
        let late = Written(
            change: Change(item: Histories.item, stamp: Stamp(rawValue: 9), operations: [.remove]),
            replica: ReplicaID(1))
        #expect(Histories.state(of: [early, late]) == Histories.state(of: [late, early]))
        #expect(Histories.state(of: [late, early]).removed?.stamp == Stamp(rawValue: 5))
    }
}

@Suite("Concurrent writes of one field")
struct ConflictTests {
    private let anna = ReplicaID(1)
    private let bert = ReplicaID(2)

    private func set(_ value: String, at stamp: UInt64, replaces: [WriteStamp] = []) -> Change {
        Change(
            item: Histories.item, stamp: Stamp(rawValue: stamp),
            operations: [.set(field: "room", value: value, replaces: replaces)])
    }

    private func write(_ stamp: UInt64, _ author: ReplicaID) -> WriteStamp {
        WriteStamp(stamp: Stamp(rawValue: stamp), author: author)
    }

    @Test("Both are kept, and the winner's author is the later one")
    func bothAreKept() {
        let state = Histories.state(of: [
            Written(change: set("den", at: 5), replica: anna), Written(change: set("attic", at: 6), replica: bert),
        ])
        #expect(state.value(of: "room") == "attic")
        #expect(state["room"]?.losers.map(\.value) == ["den"])
        #expect(state.conflictCount == 1)
    }

    @Test("A write that knew the other is no conflict")
    func anOverwriteIsNoConflict() {
        let state = Histories.state(of: [
            Written(change: set("den", at: 5), replica: anna),
            Written(change: set("attic", at: 6, replaces: [write(5, anna)]), replica: bert),
        ])
        #expect(state.conflictCount == 0)
    }

    @Test("One later write that saw both settles the conflict, in any order of arrival")
    func aLaterWriteSettlesIt() {
        let history = [
            Written(change: set("den", at: 5), replica: anna), Written(change: set("attic", at: 6), replica: bert),
            Written(change: set("hall", at: 9, replaces: [write(6, bert)]), replica: anna),
        ]
        Histories.forEachOrder(of: history) { order in
            let state = Histories.state(of: order)
            #expect(state.value(of: "room") == "hall")
            #expect(state.conflictCount == 0)
        }
    }

    @Test("A write that saw only one of two leaves the other listed")
    func anUnseenWriteStaysListed() {
        let cleo = ReplicaID(3)
        let history = [
            Written(change: set("den", at: 5), replica: anna), Written(change: set("attic", at: 6), replica: bert),
            Written(change: set("hall", at: 9, replaces: [write(6, bert)]), replica: cleo),
        ]
        Histories.forEachOrder(of: history) { order in
            #expect(Histories.state(of: order)["room"]?.losers.map(\.value) == ["den"])
        }
    }

    @Test("Two people who write the same value have no conflict to look at")
    func equalValuesAreNoConflict() {
        let state = Histories.state(of: [
            Written(change: set("den", at: 5), replica: anna), Written(change: set("den", at: 6), replica: bert),
        ])
        #expect(state.conflictCount == 0)
    }

    @Test("A change that was re-issued by another replica changes nothing")
    func reissuesChangeNothing() {
        for seed in 1...100 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let history = Histories.random(replicas: 3, changes: 20, seed: seed)
            let reissued = history.filter { _ in generator.oneIn(3) }.map { written in
                var change = written.change
                change.origin = written.replica
                return Written(change: change, replica: ReplicaID(99))
            }
            let together = (history + reissued).shuffled(using: &generator)
            #expect(Histories.state(of: together) == Histories.state(of: history), "seed \(seed)")
        }
    }
}
