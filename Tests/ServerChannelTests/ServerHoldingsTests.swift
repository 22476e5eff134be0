import CRDT
import Testing

@testable import ServerChannel

@Suite("What the server is known to hold")
struct ServerHoldingsTests {
    private static let smith = JobID(ItemID(1))
    private static let jones = JobID(ItemID(2))

    private static func list(_ jobs: [JobID], fingerprint: UInt64, cursor: String, isFromStart: Bool) -> JobChangeList {
        let entries = jobs.map { JobChangeList.Entry(job: $0, channel: 1, fingerprint: fingerprint) }
        return JobChangeList(entries: entries, cursor: cursor, isFromStart: isFromStart)
    }

    @Test("Page after page is added to what is known")
    func pages() {
        var held = ServerHoldings()
        held.update(Self.list([Self.smith], fingerprint: 1, cursor: "a-1", isFromStart: true))
        held.update(Self.list([Self.jones], fingerprint: 2, cursor: "a-2", isFromStart: false))
        #expect(held.fingerprints == [Self.smith: 1, Self.jones: 2] && held.cursor == "a-2")
    }

    @Test("A server that lists from its start again has lost what it does not list")
    func setBack() {
        var held = ServerHoldings()
        held.update(Self.list([Self.smith, Self.jones], fingerprint: 1, cursor: "a-2", isFromStart: true))
        held.note(VersionVector(), of: Self.smith)
        held.update(Self.list([Self.jones], fingerprint: 3, cursor: "b-1", isFromStart: true))
        #expect(held.fingerprints == [Self.jones: 3] && held.cursor == "b-1")
    }
}
