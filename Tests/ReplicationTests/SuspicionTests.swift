import CRDT
import Replication
import Testing
import Timekeeping

@Suite("Connections that may be dead without knowing it")
struct SuspicionTests {
    private let link = LinkID(number: 1)

    /// A mesh with one established link, and the id of the device at its other end.
    private func connected() throws -> (mesh: Mesh, peer: DeviceID) {
        let own = try #require(DeviceID(String(repeating: "a1", count: 32)))
        let peer = try #require(DeviceID(String(repeating: "b2", count: 32)))
        var mesh = Mesh(
            device: own, replica: ReplicaID(1), instance: 1, name: "anna", jobs: [])
        mesh.meet(peer, on: link)
        return (mesh, peer)
    }

    @Test("A device that moved is asked for a sign of life, and its connection closed when none comes")
    func silentLinkIsClosed() throws {
        var (mesh, peer) = try connected()
        let directives = mesh.onLivenessHint(about: peer.short, now: 1_000)
        #expect(directives == [.send(.ping(1_000), on: link)])
        #expect(!mesh.onTimer(now: 2_999).contains { isClose($0) })
        #expect(try #require(mesh.nextDeadline) <= 3_000)
        #expect(mesh.onTimer(now: 3_000).contains { isClose($0) })
    }

    @Test("A device that answers keeps its connection")
    func livingLinkStays() throws {
        var (mesh, peer) = try connected()
        _ = mesh.onLivenessHint(about: peer.short, now: 1_000)
        _ = mesh.onMessage(.pong(1_000, received: 0, answered: 0, .unsynchronised), on: link, now: 1_001)
        #expect(!mesh.onTimer(now: 3_000).contains { isClose($0) })
    }

    @Test("Doubt about one device leaves the others alone")
    func othersAreLeftAlone() throws {
        var (mesh, _) = try connected()
        #expect(mesh.onLivenessHint(about: "0000", now: 1_000).isEmpty)
    }

    private func isClose(_ directive: some LinkDirecting) -> Bool {
        if case .close(link, _) = directive.onLink { true } else { false }
    }
}
