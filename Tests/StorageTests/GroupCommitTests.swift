import CRDT
import Inventory
import Synchronization
import Testing

import Simulation
@testable import Storage

@Suite("Writes that wait for each other", .timeLimit(.minutes(1)))
struct GroupCommitTests {
    @Test("Short ones share a transaction and wait for no long one; a long one goes alone, and in its turn")
    func shortBeforeLong() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1), generator: &generator)
        let order = Order()
        store.holdWrites()
        var tasks: [Task<Void, any Error>] = []
        for (name, isLong) in [("A", true), ("a", false), ("B", true), ("b", false), ("c", false)] {
            tasks.append(
                Task {
                    try await store.write(isLong: isLong) { _ in
                        order.add(name)
                        // Told of the transaction's end by the first in it.
                        let effects = store.commits.effects
                        if effects.count == 0 { effects.add(onCommit: { order.add("|") }, onUndo: {}) }
                    }
                })
            while store.waitingWriteCount < tasks.count { await Task.yield() }
        }
        store.releaseWrites()
        for task in tasks { try await task.value }
        #expect(order.text == "abc|A|B|")
        #expect(try await store.write { _ in true }, "nothing is left waiting")
    }

    @Test("Who writes after the store was closed is told so")
    func afterClose() async throws {
        let place = try Place()
        let store = try await place.open()
        try store.close()
        await #expect(throws: StoreError.self) { try await store.write { _ in true } }
        await store.waitForWriter()
    }
}

private final class Order: Sendable {
    private let names = Mutex<[String]>([])

    var text: String { names.withLock { $0.joined() } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
}
