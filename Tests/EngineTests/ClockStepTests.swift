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
    private static let job = JobID(ItemID(7))

    /// Keeps what was sent.
    private final class Links: PeerLinks, @unchecked Sendable {
        private(set) var sent: [(message: Message, link: LinkID)] = []

        func dial(_ address: PeerAddress) {}
        func send(_ message: Message, on link: LinkID) { sent.append((message, link)) }
        func established(_ link: LinkID) {}
        func close(_ link: LinkID, reason: String) {}
    }

    private struct Nobody: ReplicationObserver {
        func jobAdvanced(_ advance: JobAdvance) {}
    }

    /// A laptop in virtual time, ten hours behind.
    private final class Anna: Sendable {
        let scheduler = Scheduler(seed: 1)
        let run: VirtualRun
        let store: Store
        let clock: ClockService
        let links = Links()
        let replicator: Replicator
        /// How long the next accesses to the disk take, in microseconds; none where there is no more.
        let waits = Mutex<[Int64]>([])

        init() throws {
            var profile = VirtualClock.Profile()
            profile.wallErrorMilliseconds = -36_000_000
            let machine = VirtualMachine(index: 0, seed: 1, profile: profile, scheduler: scheduler)
            run = machine.begin()
            var generator = SeededGenerator(seed: 1)
            store = try Store.openInMemory(
                place: StorePlace(machine: "anna", file: "1"), hostName: "anna", generator: &generator)
            clock = ClockService(remembered: nil, machine: run, built: VirtualClock.built - 86_400_000_000)
            replicator = Replicator(
                Replicator.Parts(
                    store: store, clock: clock, machine: run, observer: Nobody(),
                    logger: Logger(label: "anna") { _ in SwiftLogNoOpLogHandler() }),
                holdings: KnownHoldings(jobs: [], removals: []), hostName: "anna")
            store.whenShown { [clock] in clock.noteShown() }
            store.setLatency { [unowned self] in
                let wait = waits.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
                if wait > 0 { await scheduler.pass(microseconds: wait) }
            }
        }

        func greet(_ peer: UInt8, on link: LinkID) async {
            await replicator.linkOpened(link, remote: "peer", dialled: nil)
            let device = DeviceID(high: UInt128(peer), low: 0)
            let hello = Hello(
                minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
                device: device, instance: UInt64(peer), name: "peer", fleet: "")
            await replicator.received(.hello(hello), on: link)
        }

        /// A peer that knows the server's time answers the last ping.
        func answer(on link: LinkID) async {
            for case (.ping(let number), link) in links.sent.reversed() {
                let now = VirtualClock.epoch + scheduler.now
                return await replicator.received(
                    .pong(number, received: now, answered: now, ClockQuality(stratum: 1, uncertainty: 0)), on: link)
            }
        }

        /// Somebody without a server tells the time, so many hours behind.
        func hear(hoursBehind hours: Int64) async {
            let (elapsed, time) = (run.elapsedMicroseconds, VirtualClock.epoch + scheduler.now - hours * 3_600_000_000)
            let exchange = TimeExchange(sent: elapsed, received: time, answered: time, returned: elapsed)
            await replicator.learn(
                TimeSample(exchange: exchange, quality: .unsynchronised, source: .peer("peer \(hours)")))
        }

        func write() async throws -> Commit {
            let put = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Sofa")])
            let result = try await store.edit(
                job: ClockStepTests.job, createsJob: true, now: { [clock] in clock.now }, [put])
            return try #require(result.commit)
        }

        func head() async throws -> JournalHead {
            try await store.vector(of: ClockStepTests.job)[store.identity.replica]
        }
    }

    @Test(
        "Work that a step has shifted is never shown as it was, in whatever order the disk says that both are durable")
    func shownAsShifted() throws {
        let anna = try Anna()
        let (first, second) = (LinkID(number: 1), LinkID(number: 2))
        let digest = try anna.scheduler.finish {
            await anna.replicator.attach(anna.links)
            await anna.greet(1, on: first)
            await anna.greet(2, on: second)
            let told = Mutex<[CommittedNote]>([])
            anna.store.whenCommitted { note in told.withLock { $0.append(note) } }
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
            for note in told.withLock({ $0 }) { anna.replicator.committed(note) }
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
            let told = await anna.replicator.holdings(of: Self.job)
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
            let told = await anna.replicator.holdings(of: Self.job)
            #expect(try await told.vector == anna.store.vector(of: Self.job))
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
