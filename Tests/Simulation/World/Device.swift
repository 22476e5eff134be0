import CRDT
import Outbox
import Replication
import Storage
import Timekeeping

/// One laptop: the production store and mesh, and the machine around them.
final class Device: Holder {
    /// A disk's content at some time, and what the reference knew of it.
    struct Backup {
        let contents: [UInt8]
        let references: [JobID: Reference]
        /// Whose store it is.
        let replica: ReplicaID
    }

    struct Round {
        let job: JobID
        var session: ServerSyncSession
        let only: ReplicaID?
        let began: Int64
        /// What was held here before the office was asked for its.
        var here = JobHoldings()
    }

    let index: Int
    var mesh: Mesh
    var clock: VirtualClock
    /// The production clock, fed by the virtual one.
    var time: CorrectedClock
    /// Links that may carry this device's work away.
    var exposedLinks: Set<LinkID> = []
    /// Work that nobody can have seen and that was written without the time: by sequence, the true time of writing.
    var unseen: [JobID: [UInt64: Int64]] = [:]
    /// Somebody has set its wall clock since it booted.
    var hasOtherWall = false
    /// Of each journal, the last piece that came: when it was sent.
    private var lastDelta: [JournalName: Int] = [:]
    /// The names of this machine and of the store's file.
    var machine: String
    var file = 1
    /// Grows with every crash and sleep: what was under way before belongs to the past.
    var incarnation = 0
    var isUp = false
    var hasJoined = false
    var isAway = false
    var wakesAt: Int64?
    var isDiskFull = false
    var backup: Backup?
    /// The name under which it was set back, or copied, without knowing it: what it said as such it may not know itself.
    var doubtful: ReplicaID?
    var timerAt: Int64?
    var reachesServer: Bool
    /// What is being settled with the office.
    var rounds: [Int: Round] = [:]
    var roundCount = 0
    var isExposedToOffice = false
    var outbox = OutboxMachine()
    /// How far each job's requests have been looked at.
    var marks: [JobID: RequestMark] = [:]
    var outboxTimerAt: Int64?
    var isLookingAtRequests: Set<JobID> = []
    /// Rejections that the people at this device were told of.
    var told: Set<MutationToken> = []
    /// How far ahead of its time it stamps what it writes.
    var lieMilliseconds: UInt64 = 0
    var generator: SeededGenerator

    init(index: Int, seed: UInt64, profile: Plan.ClockProfile) throws {
        self.index = index
        machine = "machine-\(index)"
        clock = VirtualClock(profile, machine: index, now: 0)
        time = CorrectedClock(boot: "", elapsed: 0, wall: 0, remembered: nil)
        reachesServer = profile.reachesServer
        generator = SeededGenerator(seed: seed ^ UInt64(index + 1) << 32)
        let place = StorePlace(machine: machine, file: "1")
        let store = try Store.openInMemory(place: place, hostName: "laptop \(index)", generator: &generator)
        mesh = Self.mesh(for: store.identity, instance: UInt64(index), jobs: [])
        super.init("device \(index)", store: store)
        noteWhenShown()
    }

    /// As the daemon does. In memory the store calls back where it is called, and nobody else is about.
    private func noteWhenShown() {
        nonisolated(unsafe) unowned let device = self
        store.whenShown { device.time.onShown() }
    }

    /// Whether a piece of a journal comes after one that was sent later, on another way.
    func isOvertaken(_ message: Message, sent order: Int) -> Bool {
        guard case .delta(let job, let segment, _) = message else { return false }
        let name = JournalName(job: job, replica: segment.replica)
        let last = lastDelta[name] ?? 0
        lastDelta[name] = max(last, order)
        return order < last
    }

    private struct JournalName: Hashable {
        let job: JobID
        let replica: ReplicaID
    }

    static func mesh(
        for identity: StoreIdentity, instance: UInt64, jobs: [(job: JobID, vector: VersionVector)],
        removals: [(job: JobID, removal: JobRemoval)] = []
    ) -> Mesh {
        Mesh(
            device: identity.device, replica: identity.replica, instance: instance, name: "laptop", fleet: "",
            jobs: jobs, removals: removals)
    }

    /// Opens what is durable as the daemon does after a start.
    func open(_ contents: [UInt8], now: Int64) async throws {
        let place = StorePlace(machine: machine, file: String(file))
        store = try Store.openInMemory(
            contents: contents, place: place, hostName: "laptop \(index)", generator: &generator)
        store.setDiskFull(isDiskFull)
        noteWhenShown()
        let instance = UInt64(index) + UInt64(incarnation) << 8
        mesh = Self.mesh(
            for: store.identity, instance: instance, jobs: try await store.vectors(),
            removals: try await store.removals())
        timerAt = nil
        isFreeing = false
        exposedLinks = []
        rounds = [:]
        isExposedToOffice = false
        outboxTimerAt = nil
        isLookingAtRequests = []
        time = CorrectedClock(
            boot: clock.bootID, elapsed: clock.elapsed(at: now), wall: clock.wall(at: now),
            remembered: try await store.clockRecord(), built: VirtualClock.built)
        if let record = time.initialRecord, !isDiskFull { try await store.keep(record) }
    }

    /// Milliseconds of a clock that never goes back, for the mesh.
    func elapsedMilliseconds(at now: Int64) -> UInt64 { UInt64(max(0, clock.elapsed(at: now) / 1_000)) }

    /// What it stamps with: a liar's is ahead.
    func stampTime(at now: Int64) -> ReceiveTime {
        let time = receiveTime(at: now)
        return ReceiveTime(
            milliseconds: time.milliseconds + lieMilliseconds, isSynchronised: time.isSynchronised)
    }

    /// Corrected time as this laptop knows it, for stamps: as the daemon's clock service says it.
    func receiveTime(at now: Int64) -> ReceiveTime {
        let elapsed = clock.elapsed(at: now)
        return ReceiveTime(
            milliseconds: UInt64(clamping: time.time(at: elapsed) / 1_000), isSynchronised: time.isSynchronised)
    }
}
