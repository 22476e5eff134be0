import CRDT
import Replication
import Testing

@testable import Engine
@testable import Simulation

/// What the engine does about peers after a sleep, and about those that keep it waiting, in virtual time.
@Suite("A laptop that was asleep")
struct ResumeTests {
    private let first = LinkID(number: 1)
    private let second = LinkID(number: 2)

    @Test("Everybody is asked for a sign of life, and who waits to be dialled is dialled at once")
    func resumed() throws {
        let anna = try Anna()
        let address = PeerAddress(host: "10.77.0.9", port: 7473)
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            await anna.replicator.updatePlan { plan, now in plan.onConfigured(address, now: now) }
            #expect(anna.links.dialled == [address])
            await anna.replicator.dialFailed(address, .silent, reason: "nobody answers")
            await anna.greet(2, on: first)
            await anna.greet(3, on: second)
            let count = anna.links.sent.count
            await anna.replicator.resumed()
            let pinged = anna.links.sent[count...].compactMap { if case .ping = $0.message { $0.link } else { nil } }
            #expect(pinged == [first, second])
            #expect(anna.links.dialled == [address, address])
        }
    }

    @Test("Who does not answer then is given up without waiting to be told so")
    func silent() throws {
        let anna = try Anna()
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            await anna.greet(2, on: first)
            await anna.replicator.resumed()
            try await anna.run.sleep(milliseconds: 1_500)
            #expect(anna.links.abandoned == [Mesh.silenceReason] && anna.links.closed.isEmpty)
        }
    }
}
