import CRDT
import Testing

@testable import Replication

@Suite("A crew that works all at once", .timeLimit(.minutes(5)))
struct StormTests {
    private let job = JobID(ItemID(7))

    @Test(
        "Each laptop gets an edit less than twice, and no piece waits for a time-out",
        arguments: [(gap: 0, seed: 1), (gap: 1, seed: 2), (gap: 20, seed: 3)] as [(gap: UInt64, seed: UInt64)])
    func copies(storm: (gap: UInt64, seed: UInt64)) {
        var crowd = Crowd(24, linksEach: 5, seed: storm.seed)
        crowd.pass(1_000)
        let before = crowd.received
        for laptop in crowd.laptops.indices {
            for edit in 0..<30 { crowd.edit(job, at: laptop, in: UInt64(edit) * storm.gap) }
        }
        let took = crowd.passUntilLevel(job, edits: 30, limit: 30_000)
        let copies = Double(crowd.received - before) / Double(24 * 30 * 23)
        #expect(copies >= 1 && copies < 2, "\(copies) copies")
        #expect(took < 8_000, "\(took) ms, where a fetch that hangs is tried elsewhere after 10,000")
        #expect(crowd.refusals.isEmpty)
    }

    @Test("What a quiet crew has learned about its links it makes use of: one edit costs hardly more than one copy")
    func treeIsKept() {
        var crowd = Crowd(24, linksEach: 5, seed: 4)
        for edit in 0..<40 { crowd.edit(job, at: 3, in: UInt64(edit) * 200) }
        crowd.pass(8_000)
        let before = crowd.received
        for edit in 0..<20 { crowd.edit(job, at: 3, in: UInt64(edit) * 200) }
        crowd.pass(8_000)
        let copies = Double(crowd.received - before) / Double(20 * 23)
        #expect(copies >= 1 && copies < 1.2, "\(copies) copies")
    }
}
