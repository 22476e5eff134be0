import CRDT
import Inventory
import Simulation
import Storage
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Work that is shown often")
struct ShownOftenTests {
    // A function in a Mutex was wrapped in two more functions whenever somebody looked at it: 24,000 edits of a crew without
    // a server had made a chain of 48,000, and some ten thousand later its call went beyond the stack and ended the daemon.
    @Test("The clock is told of the two thousandth edit by as few calls as of the first", .timeLimit(.minutes(1)))
    func calls() async throws {
        var generator = SeededGenerator(seed: 1)
        let store = try Store.openInMemory(
            place: StorePlace(machine: "anna", file: "1"), hostName: "anna", signer: TestSigner(1),
            generator: &generator)
        let calls = Mutex<[Call]>([])
        store.whenShown {
            calls.withLock { $0.append(Call()) }
            return nil
        }
        try await store.beginExposure()
        for number in 0..<2_000 {
            let fields = [Edit.FieldValue(field: "room", value: "Room \(number)")]
            _ = try await store.edit(
                job: JobID(ItemID(7)), createsJob: true,
                now: { ReceiveTime(milliseconds: 1_800_000_000_000 + UInt64(number), isSynchronised: false) },
                [.put(item: ItemID(100), fields: fields)])
        }
        let seen = calls.withLock { $0 }
        #expect(seen.count >= 2_000)
        // Threads have stacks of their own.
        for ofThread in Dictionary(grouping: seen, by: \.thread).values {
            let places = ofThread.map(\.stack)
            let spread = (places.max() ?? 0) - (places.min() ?? 0)
            #expect(spread < 32_768, "\(ofThread.count) calls, \(spread) bytes of stack apart")
        }
    }
}

/// Where a call stood on the stack of its thread.
private struct Call: Sendable {
    let thread = pthread_self()
    let stack: Int

    init() {
        var mark = 0
        stack = withUnsafePointer(to: &mark) { Int(bitPattern: $0) }
    }
}
