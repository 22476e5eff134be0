import CRDT
import Engine
import Inventory
import HTTPCoding
import LocalAPI
import Logging
import Outbox
import Simulation
import Storage
import Testing

@testable import Node

/// Somebody at a laptop: the daemon's middle on a store in memory.
struct Person: Sendable {
    let name: String
    let store: Store
    let machine: StillMachine
    private(set) var core: Core
    private(set) var service: InventoryService

    init(_ name: String, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        store = try Store.openInMemory(
            place: StorePlace(machine: name, file: name), hostName: name, generator: &generator)
        machine = StillMachine(seed: seed << 8, at: Scene.moment.milliseconds)
        self.name = name
        core = try await Self.core(on: store, machine, name)
        service = core.service(gateway: nil, discovery: DiscoveryState(DiscoveryStatus(state: .available)))
    }

    private static func core(on store: Store, _ machine: StillMachine, _ name: String) async throws -> Core {
        try await Core(
            Core.Parts(
                store: store, machine: machine, configuration: NodeConfiguration(), hostName: name,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                fleet: FleetIdentity(key: TestSigner(named: name).key), built: 0))
    }

    mutating func restart() async throws {
        core = try await Self.core(on: store, machine, name)
        service = core.service(gateway: nil, discovery: DiscoveryState(DiscoveryStatus(state: .available)))
    }

    /// A second after whatever was before, and under an id that the tests know.
    func write(_ item: String, _ fields: [String: String], in job: String = Scene.jobID) async throws {
        machine.pass(milliseconds: 1_000)
        let fields = try InventoryService.fields(FieldsRequest(fields: fields))
        try await service.make(
            .put(item: try #require(ItemID(item)), fields: fields), job: try #require(JobID(job)))
    }

    func send(_ jobs: [String], to other: Person) async throws {
        for job in try jobs.map({ try #require(JobID($0)) }) {
            for entry in try await store.vector(of: job).entries {
                let known = try? await other.store.vector(of: job)[entry.replica].sequence
                let segment = try await store.segment(
                    of: entry.replica, job: job, from: (known ?? 0) + 1, maximumBytes: .max)
                guard let segment else { continue }
                _ = try await other.store.ingest(segment, job: job, now: other.core.clock.now)
            }
            await other.core.outbox.jobAdvanced(job)
        }
    }

    /// The other was connected just now, and held what is held here but for this one's own last changes.
    func remember(_ other: Person, of job: String) async throws {
        let job = try #require(JobID(job))
        let heard = Heard(
            device: other.store.identity.device, name: other.name, at: core.clock.now.milliseconds)
        try await store.note(heard, holding: [(job, try await other.store.vector(of: job))])
    }

    /// The first was tried three times, once with an answer that did not help.
    func rememberAttempts(of tokens: [String]) async throws {
        let token = try #require(await core.outbox.queue.first?.entry.token)
        var record = OutboxRecord(token: token)
        (record.attempts, record.failures, record.lastError) = (3, 3, "no connection to the server")
        record.wait = Wait(since: machine.elapsedMilliseconds, milliseconds: 12_275, cause: .backOff)
        let now = core.clock.now.milliseconds
        let ends: [(AttemptEvent.Ending, Int?, String)] = [
            (.interrupted, nil, "the daemon stopped in the middle of an attempt"),
            (.serverBusy, 503, "the server is busy"), (.unreachable, nil, "no connection to the server"),
        ]
        var writes = [OutboxWrite.record(record)]
        for (index, end) in ends.enumerated() {
            let event = AttemptEvent(
                token: token, attempt: index + 1, began: 0, nextAttempt: nil, durationMilliseconds: 12,
                outcome: end.0, status: end.1, detail: end.2)
            writes.append(.attempt(LoggedAttempt(event: event, at: now, next: index == 0 ? nil : now + 12_275)))
        }
        try await store.remember(writes)
    }
}

/// The server's store, which decides what it is brought.
struct Office: Sendable {
    private let store: Store

    init() async throws {
        var generator = SeededGenerator(seed: 3)
        store = try Store.openInMemory(
            place: StorePlace(machine: "office", file: "office"), hostName: "office", role: .channel,
            signer: TestSigner(named: "office"), generator: &generator)
    }

    /// Everything that waits at a laptop, which gets the answers.
    ///
    /// - Parameter reason: why nothing of it is accepted; nil where it is.
    func decide(all person: Person, of job: String, refusing reason: String? = nil) async throws {
        let job = try #require(JobID(job))
        for queued in await person.core.outbox.queue {
            let request = queued.entry.request
            let decisions = try await store.decide(
                [Delivery(request: request, job: job)], now: person.core.clock.now
            ) { one, published in
                reason.map { .reject($0) }
                    ?? MutationEvaluation(of: one.request, on: JobStanding(values: published))
            }
            guard let commit = decisions.made.first?.commit else { continue }
            _ = try await person.store.ingest(commit.segment, job: job, now: person.core.clock.now)
        }
        await person.core.outbox.jobAdvanced(job)
    }
}
