import CRDT
import Simulation

/// A change and whose journal it stands in.
struct Written: Hashable {
    let change: Change
    let replica: ReplicaID
}

/// Random histories of one item: every replica writes on what it has seen so far, which is some of the others' work.
enum Histories {
    static let item = ItemID(42)

    static func random(replicas count: Int, changes: Int, seed: UInt64, removes: Bool = true) -> [Written] {
        var generator = SeededGenerator(seed: seed)
        let replicas = (0..<count).map { _ in ReplicaID.random(using: &generator) }
        var states = Array(repeating: ItemState(), count: count)
        var clocks = Array(repeating: HybridLogicalClock(), count: count)
        var seen = Array(repeating: Set<Int>(), count: count)
        var history: [Written] = []
        for number in 0..<changes {
            let author = Int.random(in: 0..<count, using: &generator)
            // Journals arrive in sequence: of each other author a prefix.
            for other in 0..<count where other != author && generator.oneIn(2) {
                for (index, written) in history.enumerated() where written.replica == replicas[other] {
                    guard !seen[author].contains(index) else { continue }
                    seen[author].insert(index)
                    states[author].apply(written.change, in: written.replica)
                    clocks[author].observe(written.change.stamp, nowMilliseconds: 40)
                }
            }
            let stamp = clocks[author].tick(nowMilliseconds: UInt64.random(in: 1...40, using: &generator))
            let operations = operations(
                number, on: states[author], by: replicas[author], removes: removes, using: &generator)
            let change = Change(item: item, stamp: stamp, operations: operations)
            states[author].apply(change, in: replicas[author])
            seen[author].insert(history.count)
            history.append(Written(change: change, replica: replicas[author]))
        }
        return history
    }

    private static func operations(
        _ number: Int, on state: ItemState, by author: ReplicaID, removes: Bool, using generator: inout SeededGenerator
    ) -> [Operation] {
        if removes, generator.oneIn(12) { return [.remove] }
        if generator.oneIn(4) { return [.append(list: "notes", entry: "remark \(number)")] }
        let fields: [FieldName] = ["room", "name", "colour"]
        let picked = fields.filter { _ in generator.oneIn(2) }
        return (picked.isEmpty ? ["room"] : picked).map { field in
            let replaces = state[field]?.replacedByNewWrite(of: author) ?? []
            return .set(field: field, value: "value \(generator.next() % 4)", replaces: replaces)
        }
    }

    static func state(of history: some Sequence<Written>) -> ItemState {
        var state = ItemState()
        for written in history { state.apply(written.change, in: written.replica) }
        return state
    }

    /// Every order of a few elements (Heap's algorithm).
    static func forEachOrder<Element>(of elements: [Element], _ body: ([Element]) -> Void) {
        var elements = elements
        func permute(_ count: Int) {
            guard count > 1 else { return body(elements) }
            for index in 0..<count {
                permute(count - 1)
                elements.swapAt(count.isMultiple(of: 2) ? index : 0, count - 1)
            }
        }
        permute(elements.count)
    }
}
