import CRDT
import Inventory
import Simulation
import Storage
import Testing

@Suite("Late work of a whole fleet, or of a whole museum", .timeLimit(.minutes(2)))
struct MuchLateWorkTests {
    private static func run(_ replica: UInt128, items: Int) throws -> JournalSegment {
        let author = JobProperty.author(TestAuthor(UInt64(replica)).replica)
        var changes = [
            Change(
                item: .job, stamp: Stamp(milliseconds: 1_000, counter: 0),
                operations: [.set(field: author, value: "laptop \(replica)", replaces: [])])
        ]
        for item in 1...items {
            changes.append(
                Change(
                    item: ItemID(replica << 40 | UInt128(item)), stamp: Stamp(milliseconds: 1_000, counter: 1),
                    operations: [.set(field: "name", value: "thing", replaces: [])]))
        }
        let bytes = changes.flatMap(ChangeCodec.encode)
        return try TestAuthor(UInt64(replica)).segment(bytes, of: Store.job)
    }

    enum Decision: CaseIterable { case accept, drop }

    @Test(
        "All of it can be accepted or dropped at once, and everybody takes that in",
        arguments: [(authors: 300, items: 1), (authors: 2, items: 20_000)], Decision.allCases)
    func atOnce(size: (authors: Int, items: Int), decision: Decision) async throws {
        let crew = try Crew(2)
        let (anna, bert) = (crew.stores[0], crew.stores[1])
        try await crew.put(anna, 1, "thing")
        _ = try await crew.end(anna)
        for replica in 1...size.authors {
            let run = try Self.run(UInt128(replica), items: size.items)
            _ = try await anna.ingest(run, job: Store.job, now: .anyTime)
        }
        let late = try await anna.lateChanges(of: Store.job)
        #expect(late.count == size.authors * size.items)
        let dots = late.map(\.dot)
        let commits =
            switch decision {
            case .accept: try await crew.accept(anna, dots)
            case .drop: [try await crew.drop(anna, dots)].compactMap(\.self)
            }
        try await crew.send(anna, bert)
        for store in [anna, bert] { #expect(try await store.lateChanges(of: Store.job).isEmpty) }
        guard decision == .accept else { return }
        let rescued = try #require(commits.first { $0.job != Store.job })
        let runs = try await anna.runs(
            of: rescued.segment.replica, job: rescued.job, from: 1, sufficientBytes: 1 << 30)
        for run in runs { _ = try await bert.ingest(run, job: rescued.job, now: .anyTime) }
        for store in [anna, bert] { #expect(try await store.job(rescued.job).items == late.count) }
    }
}
