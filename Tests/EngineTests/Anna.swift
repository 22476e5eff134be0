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

/// Keeps what was sent.
final class SentMessages: PeerLinks, @unchecked Sendable {
    private(set) var sent: [(message: Message, link: LinkID)] = []
    private(set) var closed: [String] = []
    private(set) var abandoned: [String] = []
    private(set) var dialled: [PeerAddress] = []

    func dial(_ address: PeerAddress) { dialled.append(address) }
    func send(_ message: Message, on link: LinkID) { sent.append((message, link)) }
    func established(_ link: LinkID) {}
    func close(_ link: LinkID, reason: String) { closed.append(reason) }
    func abandon(_ link: LinkID, reason: String) { abandoned.append(reason) }
}

/// Keeps what watchers are told.
final class Told: ReplicationObserver, Sendable {
    let advances = Mutex<[JobAdvance]>([])

    /// Who wants to know for the server's sake.
    let news = Mutex<JobNews?>(nil)

    func jobAdvanced(_ advance: JobAdvance) {
        advances.withLock { $0.append(advance) }
        news.withLock { $0 }?.jobAdvanced(advance)
    }
}

/// A laptop in virtual time, ten hours behind.
final class Anna: Sendable {
    static let job = JobID(ItemID(7))

    let scheduler = Scheduler(seed: 1)
    let machine: VirtualMachine
    let run: VirtualRun
    let logger = Logger(label: "anna") { _ in SwiftLogNoOpLogHandler() }
    let store: Store
    let clock: ClockService
    let links = SentMessages()
    let told = Told()
    let replicator: Replicator
    /// How long the next accesses to the disk take, in microseconds; none where there is no more.
    let waits = Mutex<[Int64]>([])

    /// - Parameters:
    ///   - number: another one is another laptop.
    ///   - contents: of her store; nil for an empty one.
    ///   - assignments: nil where every job is everybody's.
    init(
        number: UInt64 = 1, contents: [UInt8]? = nil, assignments: (any AssignmentRegister)? = nil
    ) throws {
        var profile = VirtualClock.Profile()
        profile.wallErrorMilliseconds = -36_000_000
        machine = VirtualMachine(index: 0, seed: 1, profile: profile, scheduler: scheduler)
        run = machine.begin()
        var generator = SeededGenerator(seed: number)
        store = try Store.openInMemory(
            contents: contents, place: StorePlace(machine: "anna", file: "1"), hostName: "anna",
            signer: TestSigner(number), generator: &generator)
        clock = ClockService(remembered: nil, machine: run, built: VirtualClock.built - 86_400_000_000)
        replicator = Replicator(
            Replicator.Parts(
                store: store, clock: clock, machine: run, observer: told, logger: logger,
                renewKey: { TestSigner(2) }, assignments: assignments),
            holdings: KnownHoldings(jobs: [], removals: []), hostName: "anna")
        store.whenShown { [clock] in clock.noteShown() }
        store.setLatency { [unowned self] in
            let wait = waits.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
            if wait > 0 { await scheduler.pass(microseconds: wait) }
        }
    }

    func greet(_ peer: UInt8, on link: LinkID) async {
        let device = DeviceID(high: UInt128(peer), low: 0)
        await replicator.linkOpened(link, with: device, remote: "peer", dialled: nil)
        let hello = Hello(
            minimumVersion: ProtocolLimits.minimumVersion, maximumVersion: ProtocolLimits.version,
            device: device, instance: UInt64(peer), name: "peer")
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

    func write(in job: JobID = Anna.job) async throws -> Commit {
        let put = Edit.put(item: ItemID(1), fields: [Edit.FieldValue(field: "name", value: "Sofa")])
        let result = try await store.edit(
            job: job, createsJob: true, now: { [clock] in clock.now }, [put])
        return try #require(result.commit)
    }

    /// The commits from now on, of which nobody is told.
    func keepCommits() -> Kept {
        let kept = Kept()
        store.whenCommitted { note in kept.notes.withLock { $0.append(note) } }
        return kept
    }

    final class Kept: Sendable {
        let notes = Mutex<[CommittedNote]>([])
    }

    /// The store has told of them, and the replicator has not come to them yet.
    func tell(_ kept: Kept) {
        let notes = kept.notes.withLock { $0 }
        replicator.pendingCommits.withLock { $0 += notes }
    }

    func head() async throws -> JournalHead {
        try await store.vector(of: Anna.job)[store.identity.replica]
    }
}
