import CRDT
import Inventory

/// A random history: a phase with faults, then one in which everybody can reach everybody and must agree.
package struct Scenario {
    package struct Outcome {
        package let seed: UInt64
        package let counters: Counters
        package let trace: UInt64
        /// What was wrong in the end; empty when all is well.
        package let failures: [String]
    }

    /// Edits and faults in the first phase.
    package var steps = 120
    package var allowsSetBacks = true

    package init() {}

    package func run(seed: UInt64) -> Outcome {
        var generator = SeededGenerator(seed: seed ^ 0x5ca1_ab1e)
        let count = Int.random(in: 2...7, using: &generator)
        var world = World(seed: seed, devices: count)
        for index in 0..<6 { world.itemPool.append(ItemID(milliseconds: UInt64(index + 1), using: &generator)) }
        for _ in 0..<steps {
            step(&world, count: count, using: &generator)
            world.run(until: world.now + UInt64.random(in: 1...120, using: &generator))
        }
        for first in 0..<count {
            world.restart(first)
            for second in 0..<first { world.heal(first, second) }
        }
        // Everybody is reachable: agreement has to come within a bounded time.
        for _ in 0..<80 {
            world.dialAll()
            world.run(until: world.now + 1_000)
            if hasConverged(world) { break }
        }
        return Outcome(
            seed: seed, counters: world.counters, trace: world.trace, failures: failures(of: world))
    }

    private func step(_ world: inout World, count: Int, using generator: inout SeededGenerator) {
        let device = Int.random(in: 0..<count, using: &generator)
        let other = (device + Int.random(in: 1..<max(count, 2), using: &generator)) % count
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<60: world.edit(device, randomEdit(world, using: &generator))
        case ..<72: world.dialAll()
        case ..<80: world.cut(device, other)
        case ..<88: world.heal(device, other)
        case ..<92: world.crash(device)
        case ..<96: world.restart(device)
        case ..<98: world.backUp(device)
        default: if allowsSetBacks { world.setBack(device) }
        }
    }

    private func randomEdit(_ world: World, using generator: inout SeededGenerator) -> Edit {
        var item = world.itemPool.randomElement(using: &generator) ?? ItemID(1)
        if generator.oneIn(4) { item = ItemID(milliseconds: world.now, using: &generator) }
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: return .remove(item: item)
        case ..<5: return .note(item: item, text: "remark \(generator.next() % 1_000)")
        default:
            let fields: [FieldName] = ["name", "room", "barcode"]
            let picked = fields.filter { _ in generator.oneIn(2) }
            let values = (picked.isEmpty ? ["condition"] : picked).map { field in
                Edit.FieldValue(field: field, value: "\(generator.next() % 50)")
            }
            return .put(item: item, fields: values)
        }
    }

    private func hasConverged(_ world: World) -> Bool {
        let vectors = world.devices.map { $0.store.vector(of: world.job) }
        return vectors.allSatisfy { $0 == vectors[0] }
    }

    private func describe(_ world: World) -> String {
        world.devices.enumerated().map { index, device in
            let entries = device.store.vector(of: world.job).entries.map { entry in
                "\(entry.replica.description.prefix(4)):\(entry.head.sequence)/\(entry.head.digest % 1_000)"
            }
            return "\n    device \(index) \(device.store.replica.description.prefix(4)): "
                + entries.joined(separator: " ")
        }.joined()
    }

    private func failures(of world: World) -> [String] {
        var failures: [String] = []
        let stores = world.devices.map(\.store)
        if !hasConverged(world) { failures.append("The vectors still differ.\(describe(world))") }
        let exports = stores.map { $0.export(world.job) }
        if !exports.allSatisfy({ $0 == exports[0] }) { failures.append("R3: equal vectors, unequal exports.") }
        let states = stores.map { $0.jobs[world.job]?.items ?? [:] }
        if !states.allSatisfy({ $0 == states[0] }) { failures.append("R3: equal vectors, unequal states.") }
        for (index, store) in stores.enumerated() {
            let written = world.written(in: store)
            let missing = world.acknowledged.count { !written.contains($0) }
            if missing > 0 { failures.append("R4: device \(index) lacks \(missing) acknowledged changes.") }
            failures += Reference(store, job: world.job).failures(comparedWith: store, job: world.job)
        }
        return failures
    }
}
