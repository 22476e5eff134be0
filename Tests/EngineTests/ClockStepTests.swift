import CRDT
import Inventory
import Logging
import Replication
import Storage
import Synchronization
import Testing
import Timekeeping
import Transport

@testable import Engine
@testable import Simulation

/// The clock steps, and takes along what nobody has seen (rule R5).
@Suite("Steps of the clock", .timeLimit(.minutes(1)))
struct ClockStepTests {
    @Test(
        "Work that a step has shifted is never shown as it was, in whatever order the disk says that both are durable")
    func shownAsShifted() throws {
        let anna = try Anna()
        let (first, second) = (LinkID(number: 1), LinkID(number: 2))
        let digest = try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            await anna.greet(1, on: first)
            await anna.greet(2, on: second)
            let kept = anna.keepCommits()
            let commit = try await anna.write()
            // The step is taken at once, and reported a second later.
            anna.waits.withLock { $0 = [0, 1_000_000] }
            let step = anna.run.begin { await anna.answer(on: first) }
            await anna.scheduler.pass(microseconds: 10_000)
            #expect(anna.clock.now.isSynchronised)
            let other = anna.run.begin {
                await anna.answer(on: second)
                await anna.replicator.received(.ready, on: second)
            }
            await anna.scheduler.pass(microseconds: 10_000)
            anna.tell(kept)
            await anna.replicator.tellCommitted()
            await step.value
            await other.value
            let head = try await anna.head()
            #expect(head.sequence == commit.segment.head.sequence && head.digest != commit.segment.head.digest)
            return head.digest
        }
        for told in anna.links.sent.flatMap(\.message.heads) { #expect(told.digest == digest) }
        #expect(anna.links.sent.contains { $0.message == .ready && $0.link == second })
        let isGreeted = anna.links.sent.contains { if case .fingerprint = $0.message { true } else { false } }
        #expect(isGreeted, "the peer was never told what there is, so that nothing could go wrong")
    }

    @Test("Of two steps that overlap the mesh goes on with the later one, in whatever order the disk speaks of them")
    func toldInOrder() throws {
        let anna = try Anna()
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            let commit = try await anna.write()
            await anna.replicator.tellCommitted()
            anna.waits.withLock { $0 = [0, 1_000_000] }
            let back = anna.run.begin { await anna.hear(hoursBehind: 12) }
            await anna.scheduler.pass(microseconds: 10_000)
            let between = try await anna.head()
            let further = anna.run.begin { await anna.hear(hoursBehind: 14) }
            await back.value
            await further.value
            let head = try await anna.head()
            #expect(Set([commit.segment.head, between, head]).count == 3, "it steps twice")
            let told = await anna.replicator.holdings(of: Anna.job)
            #expect(told.vector[anna.store.identity.replica] == head)
        }
    }

    @Test("What a step has shifted is told under the name that the store bore then, also if it takes another meanwhile")
    func renewedMeanwhile() throws {
        let anna = try Anna()
        try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            let former = anna.store.identity.replica
            _ = try await anna.write()
            await anna.replicator.tellCommitted()
            anna.waits.withLock { $0 = [0, 1_000_000] }
            let step = anna.run.begin { await anna.hear(hoursBehind: 12) }
            await anna.scheduler.pass(microseconds: 10_000)
            await anna.replicator.renew(former, "Somebody has a later part of it.")
            await step.value
            #expect(anna.store.identity.replica != former)
            let told = await anna.replicator.holdings(of: Anna.job)
            #expect(try await told.vector == anna.store.vector(of: Anna.job))
        }
    }
}

extension Message {
    /// What it says of the ends of journals.
    fileprivate var heads: [JournalHead] {
        switch self {
        case .delta(_, let segment, _): [segment.head]
        case .have(_, let entries): entries.map(\.head)
        default: []
        }
    }
}
