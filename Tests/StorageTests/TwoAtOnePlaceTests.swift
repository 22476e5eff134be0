import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("What two copies of a store wrote at one place", .timeLimit(.minutes(1)))
struct TwoAtOnePlaceTests {
    /// The journal of the copied store, and two others in which the branch that gave way was re-issued.
    private let journals = [7, 5, 9].map { TestAuthor($0) }

    private func run(of author: TestAuthor) throws -> JournalSegment {
        let isOriginal = author.replica == journals[0].replica
        let value = isOriginal ? "of the original" : "of the copy"
        var change = Change(
            item: ItemID(1), stamp: Stamp(milliseconds: 1_000, counter: 0),
            operations: [.set(field: "name", value: value, replaces: [])])
        if !isOriginal { change.origin = journals[0].replica }
        return try author.segment(ChangeCodec.encode(change), of: Store.job)
    }

    @Test("The timeline shows each once, in one order, in whatever order they came")
    func once() async throws {
        var timelines: [[TimelineEntry]] = []
        for order in [journals, journals.reversed()] {
            var generator = SeededGenerator(seed: UInt64(timelines.count))
            let store = try Store.openInMemory(
                place: StorePlace(machine: "m", file: "f"), hostName: "anna", signer: TestSigner(1),
                generator: &generator)
            for author in order {
                _ = try await store.ingest(try run(of: author), job: Store.job, now: .anyTime)
            }
            timelines.append(try await store.timeline(of: Store.job, item: nil).rest())
        }
        #expect(timelines[0] == timelines[1])
        let ofCopies = journals.dropFirst().map(\.replica)
        #expect(timelines[0].map { $0.settings.map(\.value) }.count == 2)
        for entry in timelines[0] {
            let isOfCopy = entry.settings.map(\.value) == ["of the copy"]
            #expect(entry.key.journal == (isOfCopy ? ofCopies.min() : journals[0].replica))
        }
        let keys = timelines[0].map(\.key)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "no two stand at one place")
    }
}
