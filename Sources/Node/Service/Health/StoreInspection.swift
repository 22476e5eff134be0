import Engine
import Storage

/// Looks through the store's file, once at a time: of a large one that takes longer than anybody waits for the doctor.
actor StoreInspection {
    /// So long it is waited for; `muster doctor` gives up after a little more.
    private static let patienceMilliseconds: UInt64 = 1_500

    private var underWay: Task<[String], Never>?

    /// What SQLite finds wrong with it; nil while it is not known yet. Who asks again then hears of the same look.
    func problems(of store: Store, on machine: any Machine) async -> [String]? {
        let look = underWay ?? Task { await Self.look(at: store) }
        underWay = look
        let (first, ready) = AsyncStream<[String]?>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let deadline = machine.after(milliseconds: Self.patienceMilliseconds) { ready.yield(nil) }
        Task {
            ready.yield(await look.value)
            deadline.cancel()
        }
        var found: [String]?
        for await problems in first {
            found = problems
            break
        }
        // What was found is told once; the next who asks has it looked at anew.
        if found != nil, underWay == look { underWay = nil }
        return found
    }

    private static func look(at store: Store) async -> [String] {
        do { return try await store.quickProblems() } catch { return ["\(error)"] }
    }
}
