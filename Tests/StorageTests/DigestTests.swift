import CRDT
import Inventory
import Storage
import Testing

@Suite("The digest of a job", .timeLimit(.minutes(1)))
struct DigestTests {
    @Test("It is never that of a state before the job was removed, though nothing else is in the vector")
    func removedMeanwhile() async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        for item in 1...50 as ClosedRange<UInt128> { try await crew.put(anna, item, "thing \(item)") }
        try await crew.exchange()
        let former = try await bert.digest(of: Store.job)
        let removal = try await crew.end(anna).outcome.removal
        // The end of the job comes before the statement that tells of it: bert's vector is as it was.
        _ = try await bert.takeRemoval(removal, of: Store.job, now: .anyTime, using: &crew.generator)
        #expect(try await bert.vector(of: Store.job) == former.vector)
        #expect(try await bert.digest(of: Store.job).text != former.text)
        #expect(try await bert.digest(of: Store.job).text == anna.digest(of: Store.job).text)
    }
}
