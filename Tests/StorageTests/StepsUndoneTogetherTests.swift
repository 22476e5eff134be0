import CRDT
import Inventory
import Synchronization
import Testing

import Simulation
@testable import Storage

@Suite("Steps of the clock that share a transaction", .timeLimit(.minutes(1)))
struct StepsUndoneTogetherTests {
    private static let now: UInt64 = 1_800_000_000_000

    @Test("Two that fail together leave the clock, and the last stamp, as they were before the first")
    func bothUndone() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1), generator: &generator)
        let edit = Edit.put(item: ItemID(42), fields: [Edit.FieldValue(field: "room", value: "hall")])
        let isUnseen = try await store.edit(
            job: Store.job, createsJob: true, nowMilliseconds: Self.now, isSynchronised: false, [edit])
        #expect(isUnseen.commit != nil)
        let before = store.clock.withLock { $0.latest }
        store.setDiskFull(true)

        let clock = Steps()
        store.holdWrites()
        let hour = Task { try await store.restamp(taking: { clock.take(3_600_000) }) }
        let minute = Task { try await store.restamp(taking: { clock.take(60_000) }) }
        while store.waitingWriteCount < 2 { await Task.yield() }
        store.releaseWrites()
        await #expect(throws: StoreError.self) { try await hour.value }
        await #expect(throws: StoreError.self) { try await minute.value }

        #expect(clock.log.count == 4, "both were taken in one transaction, and both undone: \(clock.log)")
        #expect(clock.offset == 0)
        #expect(store.clock.withLock { $0.latest } == before)
        store.setDiskFull(false)
        #expect(try await store.restamp(taking: { clock.take(5_000) }).count == 1)
        #expect(clock.offset == 5_000 && store.commits.effects.count == 0)
    }
}

/// A clock that notes what becomes of it.
private final class Steps: Sendable {
    private let state = Mutex<(offset: Int64, log: [Int64])>((0, []))

    var offset: Int64 { state.withLock { $0.offset } }
    var log: [Int64] { state.withLock { $0.log } }

    func take(_ milliseconds: Int64) -> TakenStep {
        state.withLock { state in
            let before = state.offset
            state.offset += milliseconds
            state.log.append(state.offset)
            let now = ReceiveTime(milliseconds: 1_800_000_000_000 + UInt64(state.offset), isSynchronised: false)
            return TakenStep(ClockStep(milliseconds: milliseconds, now: now)) { [self] in
                self.state.withLock { state in
                    state.offset = before
                    state.log.append(before)
                }
            }
        }
    }
}
